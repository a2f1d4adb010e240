package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"example.com/pipe/engine/value"
)

// The plain types are the types without methods, so that encoding/json takes their fields; what holds a
// value hides the plain field with one that keeps the value's exact type.

type plainParam Param

type paramJSON struct {
	*plainParam
	Default value.JSON `json:"default,omitzero"` // hides the plain one
}

// MarshalJSON gives the param's JSON form.
func (p Param) MarshalJSON() ([]byte, error) {
	return json.Marshal(paramJSON{(*plainParam)(&p), value.JSON{Value: p.Default}})
}

// UnmarshalJSON reads the param's JSON form.
func (p *Param) UnmarshalJSON(b []byte) error {
	*p = Param{}
	j := paramJSON{plainParam: (*plainParam)(p)}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	p.Default = j.Default.Value
	return nil
}

type plainTemplate Template

type templateJSON struct {
	*plainTemplate
	Value value.JSON `json:"value,omitzero"` // hides the plain one
}

// MarshalJSON gives the template's JSON form.
func (t Template) MarshalJSON() ([]byte, error) {
	return json.Marshal(templateJSON{(*plainTemplate)(&t), value.JSON{Value: t.Value}})
}

// UnmarshalJSON reads the loop's JSON form. A plan that was frozen before loops had rules to choose from has the one that
// held then.
func (l *Loop) UnmarshalJSON(b []byte) error {
	type fields Loop
	f := fields{Convergence: Convergence{NoChange: true}}
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*l = Loop(f)
	return nil
}

// UnmarshalJSON reads the template's JSON form.
func (t *Template) UnmarshalJSON(b []byte) error {
	*t = Template{}
	j := templateJSON{plainTemplate: (*plainTemplate)(t)}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	t.Value = j.Value.Value
	return nil
}

// Encode gives plan.json: one line of JSON, the same for the same plan.
func (p *Plan) Encode() ([]byte, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding plan %q: %w", p.Name, err)
	}
	return b, nil
}

// Decode reads what Encode gave. A plan whose indexes lead nowhere, or whose needs form a cycle, is an
// error; so is one of a newer format.
func Decode(b []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(bytes.TrimSpace(b), p); err != nil {
		return nil, fmt.Errorf("decoding a plan: %w", err)
	}
	if p.Format != Format {
		return nil, fmt.Errorf("decoding a plan: its format is %d, this program reads %d", p.Format, Format)
	}
	if err := p.Graph.validate(""); err != nil {
		return nil, fmt.Errorf("decoding plan %q: %w", p.Name, err)
	}
	return p, nil
}

// validate checks what the machine relies on.
func (g *Graph) validate(parent string) error {
	seen := make(map[string]bool, len(g.Nodes))
	for i := range g.Nodes {
		n := &g.Nodes[i]
		path := parent + n.ID
		if n.ID == "" || seen[n.ID] {
			return fmt.Errorf("stage %d of %q has no id of its own", i, parent)
		}
		seen[n.ID] = true
		last := -1
		for _, need := range n.Needs {
			if need <= last || need >= len(g.Nodes) || need == i {
				return fmt.Errorf("stage %q needs stage %d, which is not an ascending index of another stage", path, need)
			}
			last = need
		}
		if l := n.Loop; l != nil && (l.Target < 0 || l.Target >= len(g.Nodes) || l.Target == i) {
			return fmt.Errorf("the loop of stage %q targets stage %d, which is not the index of another stage", path, l.Target)
		}
		if l := n.Loop; l != nil && l.Self && (len(n.Needs) != 1 || n.Needs[0] != l.Target) {
			return fmt.Errorf("stage %q is a part of stage %d, and needs other ones", path, l.Target)
		}
		if n.Refine != nil && (n.Loop == nil || !n.Loop.Self) {
			return fmt.Errorf("stage %q validates a refine loop and is no part of a stage", path)
		}
		if n.Body != nil {
			if err := n.Body.validate(path + "/"); err != nil {
				return err
			}
		}
	}
	if f := g.Finally; f != nil {
		for i := range f.Nodes {
			n := &f.Nodes[i]
			if seen[n.ID] || len(n.Needs) > 0 || n.Loop != nil || n.Body != nil || n.ForEach != nil || n.Approval != nil {
				return fmt.Errorf("stage %q of finally has an id, needs or parts that it can't have", parent+n.ID)
			}
		}
		if err := f.validate(parent); err != nil {
			return err
		}
	}
	if len(g.Order()) != len(g.Nodes) {
		return fmt.Errorf("the needs of the stages of %q form a cycle", parent)
	}
	return nil
}

// Digest gives the SHA-256 of plan.json in hexadecimal. A plan that cannot be encoded holds values that no
// plan may hold; its digest is empty.
func (p *Plan) Digest() string {
	b, err := p.Encode()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
