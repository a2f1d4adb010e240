package report

import (
	"regexp"

	"example.com/pipe/engine/feedback"
	"example.com/pipe/engine/feedback/convert"
)

// The schema of the standard, and the names in its property bags and fingerprints that are ours.
const (
	schema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	version = "2.1.0"
	// ourName stands for who gave an item where nobody is named.
	ourName = "pipe"
	// root is the base of all files: the repository, wherever it lies.
	root = "%SRCROOT%"
)

type log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []*run `json:"runs"`
}

// run is what one tool has found.
type run struct {
	Tool struct {
		Driver struct {
			Name string `json:"name"`
		} `json:"driver"`
	} `json:"tool"`
	Results []result `json:"results"`
}

type result struct {
	Level        string            `json:"level"`
	Message      message           `json:"message"`
	Locations    []location        `json:"locations,omitempty"`
	Prints       map[string]string `json:"partialFingerprints,omitempty"`
	Suppressions []suppression     `json:"suppressions,omitempty"`
	Properties   *properties       `json:"properties,omitempty"`
}

type message struct {
	Text string `json:"text"`
}

type location struct {
	Physical struct {
		Artifact struct {
			URI  string `json:"uri"`
			Base string `json:"uriBaseId"`
		} `json:"artifactLocation"`
		Region *region `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type region struct {
	Line int `json:"startLine"`
}

type suppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification,omitempty"`
}

// properties holds what the standard has no place for: a fix there is a change of bytes, ours are words.
type properties struct {
	Tags         []string `json:"tags,omitempty"`
	SuggestedFix string   `json:"suggestedFix,omitempty"`
	Category     string   `json:"category,omitempty"`
	GateID       string   `json:"gateId,omitempty"`
	ID           string   `json:"itemId,omitempty"`
}

// sarifLog gives a run for each of those who found something; who found nothing has one, too, with an empty list.
func sarifLog(r feedback.Result) log {
	out := log{Schema: schema, Version: version}
	of := make(map[string]*run)
	runOf := func(name string) *run {
		if of[name] == nil {
			of[name] = &run{Results: []result{}}
			of[name].Tool.Driver.Name = name
			out.Runs = append(out.Runs, of[name])
		}
		return of[name]
	}
	for i := range r.Items {
		item := &r.Items[i]
		if isGone(item) {
			continue
		}
		name := item.SourceAgent
		if name == "" {
			name = ourName
		}
		t := runOf(name)
		t.Results = append(t.Results, sarifResult(item))
	}
	if len(out.Runs) == 0 {
		runOf(ourName)
	}
	return out
}

func sarifResult(i *feedback.Item) result {
	out := result{Level: level(i.Severity), Message: message{escapeLinks(i.Description)}}
	if i.File != "" {
		var at location
		at.Physical.Artifact.URI, at.Physical.Artifact.Base = convert.FileURI(i.File), root
		if i.Line > 0 {
			at.Physical.Region = &region{i.Line}
		}
		out.Locations = []location{at}
	}
	if i.Fingerprint != "" {
		out.Prints = map[string]string{convert.OwnFingerprint: i.Fingerprint}
	}
	if i.Status == feedback.Waived {
		out.Suppressions = []suppression{{"external", "accepted", i.Reason}}
	}
	p := properties{SuggestedFix: i.SuggestedFix, Category: i.Category, GateID: i.GateID, ID: i.ID}
	if i.Category == "security" {
		p.Tags = []string{"security"}
	}
	if p.Tags != nil || p.SuggestedFix+p.Category+p.GateID+p.ID != "" {
		out.Properties = &p
	}
	return out
}

func level(s feedback.Severity) string {
	switch s {
	case feedback.Blocking:
		return "error"
	case feedback.Advisory:
		return "warning"
	case feedback.Informational:
		return "note"
	}
	return "none"
}

// linkLike is what SARIF takes for a link within a message.
var linkLike = regexp.MustCompile(`\[[^\[\]]+\]\(\d+\)`)

func escapeLinks(text string) string { return linkLike.ReplaceAllString(text, `\$0`) }
