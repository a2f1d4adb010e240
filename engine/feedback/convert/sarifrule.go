package convert

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// sarifTool is a component of a tool: its driver, or an extension.
type sarifTool struct {
	name    string
	rules   []*sarifRule
	byID    map[string]*sarifRule
	strings map[string]string // messages that all rules share
}

// sarifRule is a reportingDescriptor of a rule.
type sarifRule struct {
	id, name, level string
	short, full     string
	messages        map[string]string
	security        bool
}

// noRule stands for one that the report does not describe.
var noRule = &sarifRule{}

// sarifRuleRef names a rule: by its place in a component, or by its id.
type sarifRuleRef struct {
	id            string
	index         int // -1: none
	component     int // -1: the driver, or the one with the name
	componentName string
}

// sarifMessage is a message: its text, or the id of a text of its rule; with what stands for {0}, {1}.
type sarifMessage struct {
	text, id  string
	arguments []string
}

const maxArguments = 50

// maxTools is how many components a tool may have, maxRuleParts of how many parts an id is that is looked for.
const maxTools, maxRuleParts = 1000, 50

func (r *sarifRun) tool() {
	r.in.Object(func(name string) {
		switch name {
		case "driver":
			r.tools[0] = r.component()
		case "extensions":
			r.in.Array(func(int) {
				if r.tools = append(r.tools, r.component()); len(r.tools) > maxTools {
					r.in.Fail("the report is not read beyond byte %d: the tool of run %d has more than %d extensions", r.in.Offset(), r.index+1, maxTools-1)
				}
			})
		default:
			r.in.Skip()
		}
	})
	r.toolRead = true
	r.rules, r.named = make(map[string]*sarifRule), make(map[string]int)
	for i := range r.tools {
		r.named[r.tools[i].name] = i
		for _, rule := range r.tools[i].rules {
			if r.rules[rule.id] == nil {
				r.rules[rule.id] = rule
			}
		}
	}
}

func (r *sarifParts) component() sarifTool {
	t := sarifTool{byID: make(map[string]*sarifRule)}
	r.in.Object(func(name string) {
		switch name {
		case "name":
			t.name = strings.TrimSpace(r.in.String(100))
		case "rules":
			r.in.Array(func(int) {
				rule := r.readRule()
				t.rules = append(t.rules, rule)
				if t.byID[rule.id] == nil && rule.id != "" {
					t.byID[rule.id] = rule
				}
			})
		case "globalMessageStrings":
			t.strings = r.messageStrings()
		default:
			r.in.Skip()
		}
	})
	r.keep(len(t.name))
	return t
}

func (r *sarifParts) readRule() *sarifRule {
	rule := &sarifRule{}
	r.in.Object(func(name string) {
		switch name {
		case "id":
			rule.id = strings.TrimSpace(r.in.String(maxName))
		case "name":
			rule.name = r.in.String(300)
		case "shortDescription":
			rule.short = r.message().text
		case "fullDescription":
			rule.full = r.message().text
		case "messageStrings":
			rule.messages = r.messageStrings()
		case "defaultConfiguration":
			rule.level = r.configuration()
		case "properties":
			rule.security = r.isSecurity()
		default:
			r.in.Skip()
		}
	})
	r.keep(len(rule.id) + len(rule.name) + len(rule.short) + len(rule.full))
	return rule
}

func (r *sarifParts) messageStrings() map[string]string {
	out := make(map[string]string)
	r.in.Object(func(name string) {
		out[name] = r.message().text
		r.keep(len(name) + len(out[name]))
	})
	return out
}

// configuration reads the level of a reportingConfiguration.
func (r *sarifParts) configuration() (level string) {
	r.in.Object(func(name string) {
		if name == "level" {
			level = strings.ToLower(r.in.String(40))
		} else {
			r.in.Skip()
		}
	})
	switch level {
	case "", "none", "note", "warning", "error":
	default:
		r.in.Fail("a rule of run %d, before byte %d, has the level %q, expected none, note, warning or error", r.index+1, r.in.Offset(), clip(level, 40))
	}
	return level
}

// ruleRef reads a reportingDescriptorReference.
func (r *sarifParts) ruleRef() sarifRuleRef {
	ref := sarifRuleRef{index: -1, component: -1}
	r.in.Object(func(name string) {
		switch name {
		case "id":
			ref.id = strings.TrimSpace(r.in.String(maxName))
		case "index":
			ref.index = r.in.Int()
		case "toolComponent":
			r.in.Object(func(name string) {
				switch name {
				case "index":
					ref.component = r.in.Int()
				case "name":
					ref.componentName = strings.TrimSpace(r.in.String(100))
				default:
					r.in.Skip()
				}
			})
		default:
			r.in.Skip()
		}
	})
	return ref
}

// rule finds a rule. Its place comes first: an id may be that of a part of the rule, and such a one is that
// of the rule with more behind a slash.
func (r *sarifRun) rule(ref sarifRuleRef) *sarifRule {
	tool := &r.tools[0]
	if at := ref.component + 1; at > 0 && at < len(r.tools) {
		tool = &r.tools[at]
	} else if at, ok := r.named[ref.componentName]; ok && ref.componentName != "" && ref.componentName != tool.name {
		tool = &r.tools[at]
	}
	if at := ref.index; at >= 0 && at < len(tool.rules) {
		return tool.rules[at]
	}
	id := ref.id
	for range maxRuleParts {
		if id == "" {
			break
		}
		if rule := cmp.Or(tool.byID[id], r.rules[id]); rule != nil {
			return rule
		}
		id = id[:max(strings.LastIndexByte(id, '/'), 0)]
	}
	return noRule
}

// message reads a message, or a text in several forms.
func (r *sarifParts) message() sarifMessage {
	var m sarifMessage
	markdown := ""
	r.in.Object(func(name string) {
		switch name {
		case "text":
			m.text = strings.TrimSpace(stripColours(r.in.String(maxText)))
		case "markdown":
			markdown = strings.TrimSpace(stripColours(r.in.String(maxText)))
		case "id":
			m.id = r.in.String(300)
		case "arguments":
			r.in.Array(func(int) {
				if a := stripColours(r.in.String(500)); len(m.arguments) < maxArguments {
					m.arguments = append(m.arguments, a)
				}
			})
		default:
			r.in.Skip()
		}
	})
	m.text = cmp.Or(m.text, markdown)
	return m
}

// messageOf gives the words of a result: its own, the text of its rule that it names, or what its rule is about.
func (r *sarifRun) messageOf(res *sarifResult, rule *sarifRule) string {
	m := res.message
	text := cmp.Or(m.text, rule.messages[m.id])
	for i := 0; text == "" && m.id != "" && i < len(r.tools); i++ {
		text = r.tools[i].strings[m.id]
	}
	if len(m.arguments) > 0 {
		text = withArguments(text, m.arguments)
	}
	text = embeddedLink.ReplaceAllStringFunc(text, linkText)
	return clip(strings.TrimSpace(cmp.Or(strings.TrimSpace(text), rule.short, rule.full, rule.name, rule.id, res.rule.id)), maxText)
}

// embeddedLink is a link to another place of the result, of which only its words are kept; behind a backslash it is
// text that only looks like one.
var embeddedLink = regexp.MustCompile(`\\?\[[^\[\]]+\]\(\d+\)`)

func linkText(link string) string {
	if rest, ok := strings.CutPrefix(link, `\`); ok {
		return rest
	}
	words, _, _ := strings.Cut(link[1:], "]")
	return words
}

var placeholder = regexp.MustCompile(`\{\{|\}\}|\{\d{1,3}\}`)

// withArguments puts arguments into a text; doubled braces stand for single ones there.
func withArguments(text string, arguments []string) string {
	room := 4 * maxText
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		switch found {
		case "{{":
			return "{"
		case "}}":
			return "}"
		}
		at, err := strconv.Atoi(found[1 : len(found)-1])
		if err != nil || at >= len(arguments) || len(arguments[at]) > room {
			return found
		}
		room -= len(arguments[at])
		return arguments[at]
	})
}
