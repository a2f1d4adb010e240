package check

import (
	"fmt"
	"regexp"

	"example.com/pipe/engine/diag"
)

var lineWithoutFile = Rule{
	Code: "line-without-file",
	Doc:  "A pattern of the format lines that finds a line number and no file: who gets the item does not know where to look.",
	Run: func(p *Pass) {
		for i := range p.Plan.Graph.Nodes {
			n, f := &p.Plan.Graph.Nodes[i], p.stages[i].Feedback
			if f == nil || f.Pattern == nil {
				continue
			}
			re, err := regexp.Compile(f.Pattern.Value)
			if err != nil || re.SubexpIndex("line") < 0 || re.SubexpIndex("file") >= 0 {
				continue
			}
			p.Report(diag.Diagnostic{
				Severity: diag.Warning, Code: "line-without-file", Span: f.Pattern.Span,
				Message: fmt.Sprintf("the pattern of stage %q has a group \"line\" and no group \"file\", so its items name no file", n.ID),
				Help:    "have the tool print the file (grep -Hn does) and match it: ^(?P<file>[^:]+):(?P<line>\\d+):(?P<description>.*)$",
			})
		}
	},
}
