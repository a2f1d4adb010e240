package machine_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.com/pipe/engine/plan"
	"example.com/pipe/engine/value"
)

// parsePlan reads a plan from lines "ID word word=value …"; what is indented under a stage is its body.
// Words: needs=a,b loop=TARGET max=N same=N disputed=N ratchet=N nochange=off exhausted=fail rerun=path when=EXPR approval gate (nothing but an approval)
// deadline=SECONDS ontimeout=approve|fail onreject=skip|TARGET approvers=a,b retry=N on=CLASS writes continue
// interrupt=ask|fail discovery self (verifies its target) refine=NAME (validates it) foreach=EXPR parallel=N pre=EXPR post=EXPR out=NAME escalates=fail|findings
// rollback=STRATEGY undoenv=EXPR (of its script).
// What is indented under the line "finally" is the finally of the graph. A first line "! word …" is of the plan:
// unattended, deadline=SECONDS, fail (when it passes), notify, before=EXPR and after=EXPR (of the contract of
// routings). cpre=EXPR cpost=EXPR are checks of a stage's contract, in=NAME:VALUE and in=NAME:=EXPR inputs.
func parsePlan(text string) *plan.Plan {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	p := &plan.Plan{Format: plan.Format, Name: "script", Version: 1}
	if words, ok := strings.CutPrefix(lines[0], "! "); ok {
		parsePolicy(p, strings.Fields(words))
		lines = lines[1:]
	}
	p.Graph, _ = parseGraph(lines, 0)
	return p
}

func parsePolicy(p *plan.Plan, words []string) {
	for _, w := range words {
		if w == "unattended" {
			p.Unattended = true
			continue
		}
		if when, src, _ := strings.Cut(w, "="); when == "before" || when == "after" {
			if p.Routing == nil {
				p.Routing = &plan.Contract{Name: "cross-stage-feedback"}
			}
			checks := &p.Routing.PreChecks
			if when == "after" {
				checks = &p.Routing.PostChecks
			}
			*checks = append(*checks, plan.Check{Description: src, Validation: *expression(nil, src), Contract: p.Routing.Name})
			continue
		}
		if p.Escalation == nil {
			p.Escalation = &plan.Escalation{OnTimeout: plan.AbortRun}
		}
		key, v, _ := strings.Cut(w, "=")
		switch key {
		case "deadline":
			p.Escalation.Timeout = seconds(v)
		case "fail":
			p.Escalation.OnTimeout = plan.FailEscalated
		case "notify":
			p.Escalation.Notify = append(p.Escalation.Notify, plan.Notify{Run: "tell"})
		default:
			panic(fmt.Sprintf("plan text: unknown word %q", w))
		}
	}
}

func seconds(v string) plan.Duration {
	n, err := strconv.Atoi(v)
	if err != nil {
		panic(err)
	}
	return plan.Duration(time.Duration(n) * time.Second)
}

func parseGraph(lines []string, depth int) (plan.Graph, int) {
	var g plan.Graph
	n := 0
	for n < len(lines) {
		line := lines[n]
		indent := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		if indent < depth {
			break
		}
		if indent > depth {
			body, used := parseGraph(lines[n:], depth+1)
			if strings.TrimSpace(lines[n-1]) == "finally" {
				g.Finally = &body
			} else {
				node := &g.Nodes[len(g.Nodes)-1]
				node.Body, node.Kind = &body, ""
			}
			n += used
			continue
		}
		if strings.TrimSpace(line) == "finally" {
			n++
			continue
		}
		g.Nodes = append(g.Nodes, parseNode(&g, strings.Fields(line)))
		n++
	}
	return g, n
}

func parseNode(g *plan.Graph, words []string) plan.Node {
	n := plan.Node{
		ID: words[0], Kind: "command", Role: plan.Work, OnInterrupt: plan.RunAgain,
		Retry: plan.Retry{MaxAttempts: 1, Backoff: plan.Exponential, InitialDelay: plan.Duration(5 * time.Second),
			MaxDelay: plan.Duration(5 * time.Minute)},
	}
	max := 2
	for _, w := range words[1:] {
		key, v, _ := strings.Cut(w, "=")
		switch key {
		case "needs":
			for _, id := range strings.Split(v, ",") {
				n.Needs = append(n.Needs, mustIndex(g, id))
			}
		case "loop":
			n.Role = plan.Review
			n.Loop = &plan.Loop{Target: mustIndex(g, v), OnExhausted: plan.Escalate, Rerun: plan.Downstream}
			n.Loop.Convergence.NoChange = true
		case "max":
			max, _ = strconv.Atoi(v)
		case "discovery":
			n.Discovery = true
		case "self", "refine":
			n.Loop.Rerun = plan.Path // as the compiler says
			if n.Loop.Self = true; key == "refine" {
				n.Refine = &plan.Refine{Name: v}
			}
		case "same":
			n.Loop.Convergence.SameItem, _ = strconv.Atoi(v)
		case "disputed":
			n.Loop.Convergence.Disputed, _ = strconv.Atoi(v)
		case "ratchet":
			n.Loop.Convergence.RatchetFrom, _ = strconv.Atoi(v)
		case "nochange":
			n.Loop.Convergence.NoChange = v != "off"
		case "exhausted":
			n.Loop.OnExhausted = plan.FailRun
		case "rerun":
			n.Loop.Rerun = plan.Path
		case "when":
			n.When = expression(g, v)
		case "approval", "gate":
			n.Approval = &plan.Approval{OnReject: plan.RejectFails}
			if key == "gate" {
				n.Kind = "approval"
			}
		case "deadline":
			n.Approval.Timeout = seconds(v)
			if n.Approval.OnTimeout == plan.UnknownOnTimeout {
				n.Approval.OnTimeout = plan.TimeoutRejects
			}
		case "ontimeout":
			n.Approval.OnTimeout = map[string]plan.OnTimeout{"approve": plan.TimeoutApproves, "fail": plan.TimeoutFails, "reject": plan.TimeoutRejects}[v]
		case "onreject":
			if n.Approval.OnReject = plan.RejectSkips; v != "skip" {
				n.Approval.OnReject = plan.RejectReturns
				n.Loop = &plan.Loop{Target: mustIndex(g, v), OnExhausted: plan.Escalate, Rerun: plan.Downstream, OnReject: true,
					Convergence: plan.Convergence{NoChange: true}}
			}
		case "approvers":
			n.Approval.Approvers = strings.Split(v, ",")
		case "parallel":
			n.ForEach.MaxParallel, _ = strconv.Atoi(v)
		case "escalates":
			n.OnEscalation = map[string]plan.OnEscalation{"fail": plan.EscalationFails, "findings": plan.EscalationFinds}[v]
		case "retry":
			n.Retry.MaxAttempts, _ = strconv.Atoi(v)
		case "on":
			n.Retry.On = append(n.Retry.On, v)
		case "writes":
			n.Writes = true
		case "continue":
			n.ContinueOnError = true
		case "interrupt":
			n.OnInterrupt = map[string]plan.OnInterrupt{"ask": plan.Ask, "fail": plan.FailStage}[v]
		case "foreach":
			n.ForEach = &plan.ForEach{Items: plan.Template{Parts: []plan.Part{{Expr: expression(g, v)}}}, As: "x"}
		case "pre":
			n.PreChecks = append(n.PreChecks, plan.Check{Description: v, Validation: *expression(g, v)})
		case "post":
			n.PostChecks = append(n.PostChecks, plan.Check{Description: v, Validation: *expression(g, v)})
		case "cpre":
			n.PreChecks = append(n.PreChecks, plan.Check{Description: v, Validation: *expression(g, v), Contract: "c"})
		case "cpost":
			n.PostChecks = append(n.PostChecks, plan.Check{Description: v, Validation: *expression(g, v), Contract: "c"})
		case "in":
			name, text, _ := strings.Cut(v, ":")
			t := plan.Template{Value: text}
			if src, ok := strings.CutPrefix(text, "="); ok {
				t = plan.Template{Parts: []plan.Part{{Expr: expression(g, src)}}}
			}
			n.Inputs = append(n.Inputs, plan.Binding{Name: name, Value: t})
		case "rollback":
			n.Rollback = &plan.Rollback{}
			if err := n.Rollback.Strategy.UnmarshalText([]byte(v)); err != nil {
				panic(err)
			}
		case "undoenv":
			n.Rollback.Env = append(n.Rollback.Env, plan.Binding{Name: "OK", Value: plan.Template{Parts: []plan.Part{{Expr: expression(g, v)}}}})
		case "out":
			n.Outputs = append(n.Outputs, plan.Param{Name: v, Type: value.Of(value.Any)})
		default:
			panic(fmt.Sprintf("plan text: unknown word %q", w))
		}
	}
	if n.Loop != nil {
		n.Loop.MaxIterations = max
	}
	return n
}

func mustIndex(g *plan.Graph, id string) int {
	i := g.Index(id)
	if i < 0 {
		panic(fmt.Sprintf("plan text: no stage %q above", id))
	}
	return i
}

// expression makes an expression of the little language of toyEvaluator.
func expression(g *plan.Graph, src string) *plan.Expr {
	e := &plan.Expr{Source: src}
	if kind, id, _ := strings.Cut(src, ":"); kind == "ok" || kind == "ran" {
		e.Scope = value.ObjectOf(value.FieldType{Name: "stages", Type: value.ObjectOf(value.FieldType{Name: id, Type: value.Of(value.Any)})})
	}
	if rest, ok := strings.CutPrefix(src, "is:"); ok {
		name, _, _ := strings.Cut(rest, ":")
		e.Scope = value.ObjectOf(value.FieldType{Name: name, Type: value.Of(value.Any)})
	}
	return e
}

// toyEvaluator knows true, false, error, again (iteration > 1), first (not again), list:N, lists:N,M (of the first
// iteration, and of later ones), ok:STAGE (it succeeded), ran:STAGE (it was not skipped and did not fail), and is:NAME:TEXT.
type toyEvaluator struct{}

func (toyEvaluator) Eval(e plan.Expr, scope *value.Object) (value.Value, error) {
	kind, arg, _ := strings.Cut(e.Source, ":")
	switch kind {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "again", "first":
		n, _ := scope.Get("iteration")
		return n.(int64) > 1 == (kind == "again"), nil
	case "list", "lists":
		first, later, varies := strings.Cut(arg, ",")
		if iteration, _ := scope.Get("iteration"); varies && iteration.(int64) > 1 {
			first = later
		}
		n, _ := strconv.Atoi(first)
		list := value.List{}
		for i := range n {
			list = append(list, int64(i))
		}
		return list, nil
	case "is":
		name, want, _ := strings.Cut(arg, ":")
		v, there := scope.Get(name)
		if !there || scope.Len() != 1 {
			return nil, fmt.Errorf("the scope holds %d names, want %s alone", scope.Len(), name)
		}
		text, err := value.Format(v)
		return text == want, err
	case "ok", "ran":
		stages, _ := scope.Get("stages")
		s, _ := stages.(*value.Object).Get(arg)
		status, _ := s.(*value.Object).Get("status")
		return status == "succeeded" || kind == "ran" && status != "skipped" && status != "failed", nil
	}
	return nil, &plan.EvalError{Err: fmt.Errorf("%q has no value", e.Source)}
}
