package shipped

import "strings"

// special are the routes that only one of the pipelines has, or needs to be shown for one only.
var special = map[string]func() []*route{
	"full-feature": func() []*route {
		return []*route{
			{
				name: "two reviews block at once",
				patches: map[string][]string{
					"implement 1": {"full-feature-first"},
					"implement 2": {"full-feature-rest"},
				},
				says: map[string]string{
					"security_verify 1": blames("security_verify"),
					"quality_review 1":  blames("quality_review"),
					"security_verify 2": replies("security_verify", "security_verify", "fixed", ""),
					"quality_review 2":  replies("quality_review", "quality_review", "fixed", ""),
				},
				steps: []step{{status: 4, run: "waiting"}, approve(0, "succeeded")},
				tree:  []string{"full-feature-first", "full-feature-rest"},
			},
			{
				name:   "complex, the plan accepted at once",
				inputs: []string{"complexity=high"},
				patches: map[string][]string{
					"implement 1": {"full-feature-first", "full-feature-rest"},
				},
				steps: []step{{status: 4, run: "waiting"}, approve(0, "succeeded")},
				tree:  []string{"full-feature-first", "full-feature-rest"},
			},
			{
				name: "the plan refused",
				steps: []step{{status: 4, run: "waiting"},
					{command: []string{"reject", "last", "--reason", "not this year"}, status: 1, run: "failed"}},
			},
		}
	},
	"bug-fix": func() []*route {
		usual := answers["bug-fix"]["fix"]
		return []*route{
			{
				name:    "a finding disputed and withdrawn",
				patches: map[string][]string{"fix 1": {"bug-fix-first", "bug-fix-rest"}},
				says: map[string]string{
					"quality_review 1": blames("quality_review"),
					"fix 2":            disputes(usual, "quality_review"),
					"quality_review 2": replies("quality_review", "quality_review", "withdrawn", "true"),
				},
				steps: []step{{run: "succeeded"}},
				tree:  []string{"bug-fix-first", "bug-fix-rest"},
			},
			{
				name:    "a round that changes nothing",
				patches: map[string][]string{"fix 1": {"bug-fix-first"}},
				steps:   []step{{status: 4, run: "paused"}, decide(0, "cancelled", "abort")},
				tree:    []string{"bug-fix-first"},
			},
			{
				name:    "the review sends back, and the tests fail then",
				patches: map[string][]string{"fix 1": {"bug-fix-first", "bug-fix-rest"}, "fix 2": {"refactor-first"}, "fix 3": {"refactor-rest"}},
				says: map[string]string{
					"quality_review 1": blames("quality_review"),
					"quality_review 2": replies("quality_review", "quality_review", "fixed", ""),
				},
				steps: []step{{run: "succeeded"}},
				tree:  []string{"bug-fix-first", "bug-fix-rest", "refactor-first", "refactor-rest"},
			},
		}
	},
	"refactor": func() []*route { return nil },
	"security-review": func() []*route {
		return []*route{{
			name: "nothing found",
			says: map[string]string{
				"audit 1": `{"outputs": {"findings": [], "report": "all of it was read"}}`,
			},
			steps: []step{{run: "succeeded"}},
		}}
	},
	"performance": func() []*route {
		return []*route{{
			name:    "the profile adds a benchmark",
			patches: map[string][]string{"profile 1": {"more"}, "implement 1": {"performance-first", "performance-rest"}},
			says: map[string]string{
				"profile 1": strings.Replace(answers["performance"]["profile"], "count what is read", "run the benchmark", 1),
			},
			steps: []step{{run: "succeeded"}},
			tree:  []string{"more", "performance-first", "performance-rest"},
		}}
	},
}
