package gate

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"example.com/pipe/engine/diag"
	"example.com/pipe/engine/feedback/envelope"
	"example.com/pipe/engine/proc"
	"example.com/pipe/engine/stage"
	"example.com/pipe/engine/stage/process"
	"example.com/pipe/engine/value"
	"example.com/pipe/stages/script"
)

// CIName is the name of the kind that waits for CI.
const CIName = "ci"

// The fields of what the command says of a failed run.
const (
	fieldURL     = "run_url"
	fieldSummary = "summary"
)

// The greatest lengths of what is taken over from it, in bytes.
const (
	nameLimit = 200
	urlLimit  = 2000
	textLimit = 4000
)

// NewCI returns the kind. Its processes are started by starter.
func NewCI(starter *proc.Starter) stage.Kind {
	r := runner{starter, script.NewRunner(starter)}
	checker := script.NewChecker()
	return stage.Kind{
		Name: CIName,
		Doc: "Runs a shell script that waits for a CI workflow and exits with status 0 if it passed. If it failed, the script exits with another " +
			"status and writes one JSON object to stdout, {workflow, run_url, summary}, which becomes a blocking item; see [gates](feedback.md#envelopes).",
		Config: []stage.Field{
			{Name: keyRun, Type: value.Of(value.String), Required: true,
				Doc: "the script; what it has to say of its progress belongs on stderr", Example: "./ci/wait.sh"},
			{Name: keyWorkflow, Type: value.Of(value.String), Required: true,
				Doc: "the name of the workflow, unless the script gives another", Example: "build"},
		},
		Judges: true,
		Check:  func(p *stage.CheckPass) { checker.Config(p, keyRun) },
		Run:    r.ci,
	}
}

func (r runner) ci(ctx context.Context, call *stage.Call) (stage.Outcome, error) {
	res, err := r.scripts.Run(ctx, call, script.Script{Text: script.Of(call, keyRun)})
	out, rejected, err := judge(&res, err)
	if err != nil || !rejected {
		return out, err
	}
	said, refused, err := process.Stdout{
		Output: &res.Stdout, Log: filepath.Join(call.StageDir, script.StdoutLog), Who: "the command that waits for CI", Stage: call.Stage,
	}.Object()
	if err != nil {
		return stage.Outcome{}, err
	}
	var failed envelope.CIFailure
	why := ""
	if refused != nil {
		why = refused.Message
	} else {
		failed, why = ciFailure(said, script.Of(call, keyWorkflow))
	}
	if why != "" {
		// Nobody knows whether CI failed, or the command that should have waited for it.
		out.Class, out.Message = stage.ReviewUnavailable, out.Message+"; "+diag.Escape(why)
		return out, nil
	}
	return reject(out, &envelope.Diagnosis{CI: &failed}), nil
}

// ciFailure reads what the command says of a failed run. The text says what is wrong with it.
func ciFailure(said *value.Object, workflow string) (envelope.CIFailure, string) {
	fields := []string{keyWorkflow, fieldURL, fieldSummary}
	texts := map[string]string{}
	for name, v := range said.All() {
		text, ok := v.(string)
		switch {
		case !slices.Contains(fields, name):
			return envelope.CIFailure{}, fmt.Sprintf("its JSON object has an unknown field %q, expected %s", name, strings.Join(fields, ", "))
		case v == nil:
		case !ok:
			return envelope.CIFailure{}, fmt.Sprintf("%s: expected text, found %s", name, value.Describe(v))
		default:
			texts[name] = strings.TrimSpace(script.Clean(text))
		}
	}
	for _, name := range fields[1:] {
		if texts[name] == "" {
			return envelope.CIFailure{}, fmt.Sprintf("%s is missing from its JSON object, expected {workflow, run_url, summary}", name)
		}
	}
	if texts[keyWorkflow] != "" {
		workflow = texts[keyWorkflow]
	}
	address := texts[fieldURL]
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.ContainsAny(address, " \t\n"):
		return envelope.CIFailure{}, fmt.Sprintf("run_url: %q is no address, expected one that begins with https:// or http://", script.Cut(address, nameLimit))
	case len(address) > urlLimit:
		return envelope.CIFailure{}, fmt.Sprintf("run_url: it has %d bytes, expected at most %d", len(address), urlLimit)
	}
	return envelope.CIFailure{
		Workflow: script.Cut(strings.Join(strings.Fields(workflow), " "), nameLimit),
		RunURL:   u.Redacted(), Summary: script.Cut(texts[fieldSummary], textLimit),
	}, ""
}
