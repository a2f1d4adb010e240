package specs

import (
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"example.com/pipe/specs/read"
)

// boolWords are bools to other readers of YAML, or when they are not quoted: nobody means them as a message.
var boolWords = [...]string{"true", "false", "yes", "no", "on", "off", "y", "n"}

// approval reads requires_approval: a bool, a message, or a mapping that holds the message and more.
func (r *reader) approval(n *yaml.Node) *Approval {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!bool":
		b := r.Boolean(n, `"requires_approval"`)
		if b == nil {
			return nil
		}
		return &Approval{Required: b.Value, Span: b.Span}
	case r.isCEL(n):
		m := r.message(n, `"requires_approval"`)
		if m == nil {
			return nil
		}
		return &Approval{Required: true, Message: m, Span: m.Span}
	case n.Kind == yaml.MappingNode:
		a := &Approval{Required: true, Span: r.Doc.Whole(n)}
		if !r.approvalKeys(n, `"requires_approval"`, a) {
			return nil
		}
		return a
	case n.Kind == yaml.ScalarNode && read.IsString(n) && slices.Contains(boolWords[:], strings.ToLower(strings.TrimSpace(n.Value))):
		r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), `"requires_approval" must be true, false or a message, and %q is none of them`, read.Short(n.Value)).
			Help = "write true or false, without quotes; a message says what the person is asked: requires_approval: \"publish the release?\""
		return nil
	case n.Kind == yaml.ScalarNode && read.IsString(n):
		if m := r.Filled(n, `"requires_approval"`); m != nil {
			return &Approval{Required: true, Message: &Text{*m, false}, Span: m.Span}
		}
		return nil
	}
	r.WrongKind(n, `"requires_approval"`, "true, false or a message")
	return nil
}

// approvalKeys reads the keys of an approval.
func (r *reader) approvalKeys(n *yaml.Node, what string, a *Approval) bool {
	_, ok := readKeys(r, n, what, approvalKeys, a)
	return ok
}

var approvalKeys = []key[Approval]{
	{"message", aTemplate, "", "what the person reads; may hold `${{ }}`",
		func(r *reader, n *yaml.Node, a *Approval) { a.Message = r.message(n, `"message"`) }},
	{"approvers", someTexts, "anybody", "the names of those whose answer counts, as `--by` gives them",
		func(r *reader, n *yaml.Node, a *Approval) {
			ok := r.List(n, `"approvers"`, "names", func(n *yaml.Node) {
				if s := r.Str(n, `an entry of "approvers"`); s != nil && r.fresh(*s, a.Approvers, `"approvers"`) {
					a.Approvers = append(a.Approvers, *s)
				}
			})
			switch {
			case !ok && read.IsString(n):
				r.Advise("write it as a list: approvers: [" + read.Short(n.Value) + "]")
			case ok && len(n.Content) == 0:
				r.Diags.Errorf(read.CodeValue, r.Doc.Span(n), `"approvers" is empty; nobody could answer`).Help = "without the key anybody may"
			}
		}},
	{"timeout", aDuration, "none", "how long an answer is waited for",
		func(r *reader, n *yaml.Node, a *Approval) {
			a.Timeout = r.Duration(n, `"timeout" of an approval`, time.Nanosecond)
		}},
	{"on_timeout", words("reject", "approve", "fail"), "reject", "what holds when nobody has answered in time; `fail` fails the stage " +
		"whatever `on_reject` says. [Unattended](#unattended) it holds at once",
		func(r *reader, n *yaml.Node, a *Approval) {
			a.OnTimeout = r.Word(n, `"on_timeout" of an approval`)
		}},
	{"on_reject", Value{"", []string{"fail", "skip"}, "on_reject"}, "fail", "what a rejection becomes: the stage fails, is skipped " +
		"(`skip`), or sends work back, by the rules of `feedback_loop`, with the person's reason in the brief",
		func(r *reader, n *yaml.Node, a *Approval) {
			if n.Kind != yaml.MappingNode {
				a.OnReject = r.Word(n, `"on_reject"`)
				if a.OnReject == nil && read.IsString(n) {
					r.Advise("to send work back name a stage: on_reject: {target_stage: ID}")
				}
				return
			}
			l := &Loop{Span: r.Doc.Whole(n)}
			fs, ok := readKeys(r, n, `"on_reject"`, returnKeys, l)
			if ok && !has(fs, "target_stage") {
				r.Missing(n, l.Span, `"on_reject"`, "target_stage", "name the stage that works on what was rejected")
			}
			a.Return = l
		}},
}

var returnKeys = []key[Loop]{
	{"target_stage", aName, Required, "the stage that works on what was rejected",
		func(r *reader, n *yaml.Node, l *Loop) { l.TargetStage = r.Name(n, `"target_stage"`, read.StageID) }},
	loopDefaultKeys[0],
}
