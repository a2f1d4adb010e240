package specs

import (
	"time"

	"gopkg.in/yaml.v3"

	"example.com/pipe/specs/document"
	"example.com/pipe/specs/read"
)

// escalation reads what follows from an escalation beside waiting.
func (r *reader) escalation(n *yaml.Node) *Escalation {
	e := &Escalation{Span: r.Doc.Whole(n)}
	fs, ok := readKeys(r, n, `"escalation"`, escalationKeys, e)
	if !ok {
		return nil
	}
	if after := find(fs, "on_timeout"); after != nil && !has(fs, "timeout") {
		r.Diags.Errorf(read.CodeConflict, r.Doc.Span(after.Key), `"on_timeout" of "escalation" needs a "timeout"; without one it is never reached`).
			Help = "add how long a person has to decide: timeout: 24h"
		e.OnTimeout = nil
	}
	return e
}

var escalationKeys = []key[Escalation]{
	{"timeout", aDuration, "none", "how long a decision is waited for",
		func(r *reader, n *yaml.Node, e *Escalation) {
			e.Timeout = r.Duration(n, `"timeout" of "escalation"`, time.Nanosecond)
		}},
	{"on_timeout", words("abort", "fail"), "abort", "what holds when nobody has decided in time: `abort` cancels the run, `fail` fails " +
		"it. Goes with `timeout`",
		func(r *reader, n *yaml.Node, e *Escalation) {
			e.OnTimeout = r.Word(n, `"on_timeout" of "escalation"`)
		}},
	{"notify", listOf("mappings", "notify"), "", "scripts that tell somebody. One that fails changes nothing",
		func(r *reader, n *yaml.Node, e *Escalation) {
			r.List(n, `"notify"`, "mappings with a script to run", func(n *yaml.Node) {
				p := &Notify{Span: r.Doc.Whole(n)}
				fs, ok := readKeys(r, n, `an entry of "notify"`, notifyKeys, p)
				switch {
				case !ok && read.IsString(n):
					r.Advise("write it as a script to run: {run: " + document.Quote(read.Short(n.Value)) + "}")
				case !ok:
				case !has(fs, "run"):
					r.Missing(n, r.Doc.Span(n), `an entry of "notify"`, "run", "give the script that tells somebody: run: ./notify.sh")
				case p.Run != nil:
					e.Notify = append(e.Notify, p)
				}
			})
		}},
}

var notifyKeys = []key[Notify]{
	{"run", aScript, Required, "the script; it runs as that of a stage does",
		func(r *reader, n *yaml.Node, p *Notify) { p.Run = r.script(n, `"run"`) }},
}
