package envelope

import (
	"regexp"
	"strings"
)

// criteriaHeading is the heading of acceptance criteria, in any case.
const criteriaHeading = "acceptance criteria"

var (
	atxHeading    = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$`)
	setextLine    = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	thematicBreak = regexp.MustCompile(`^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	listItem      = regexp.MustCompile(`^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(.*))?$`)
	checkbox      = regexp.MustCompile(`^\[[ xX]\](?:[ \t]+|$)`)
	fence         = regexp.MustCompile("^[ \t]*(`{3,}|~{3,})(.*)$")
)

// AcceptanceCriteria gives the items of the lists under the headings "Acceptance criteria" (of any level, in
// any case, with or without a colon) of a Markdown text, without their checkboxes, each on one line. An item of
// an item is one of its own. The section ends at the next heading that is not below it. What stands in fences
// or comments does not count. It is nil if there are none.
func AcceptanceCriteria(body string) []string {
	s := criteriaScan{}
	lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	for i, line := range lines {
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		s.line(line, next)
	}
	s.endItem()
	return s.found
}

// criteriaScan reads a text line by line.
type criteriaScan struct {
	found   []string
	item    []string // the lines of the item that is being read
	inItem  bool
	blank   bool   // the line before was empty
	level   int    // of the heading of the section; 0: outside
	fence   string // the mark that opened the fence; "": none is open
	comment bool
}

func (s *criteriaScan) line(line, next string) {
	if s.inFence(line) {
		return
	}
	line = s.uncomment(line)
	if level, title := headingOf(line, next); level > 0 {
		s.endItem()
		switch {
		case isCriteria(title):
			s.level = level
		case level <= s.level:
			s.level = 0
		}
		return
	}
	if s.level == 0 {
		return
	}
	text := strings.TrimSpace(line)
	switch match := listItem.FindStringSubmatch(line); {
	case text == "":
		s.blank = true
		return
	case thematicBreak.MatchString(line) || setextLine.MatchString(line):
		s.endItem()
	case match != nil:
		s.endItem()
		text = strings.TrimSpace(match[1])
		s.item, s.inItem = append(s.item, strings.TrimSpace(checkbox.ReplaceAllString(text, ""))), true
	case s.inItem && s.blank && line[0] != ' ' && line[0] != '\t':
		s.endItem() // a paragraph after the list
	case s.inItem:
		s.item = append(s.item, text)
	}
	s.blank = false
}

// endItem keeps the item that was being read, unless it is empty.
func (s *criteriaScan) endItem() {
	if item := strings.TrimSpace(strings.Join(s.item, " ")); item != "" {
		s.found = append(s.found, item)
	}
	s.item, s.inItem, s.blank = nil, false, false
}

// inFence reports whether a line belongs to a fenced block, its marks included.
func (s *criteriaScan) inFence(line string) bool {
	match := fence.FindStringSubmatch(line)
	switch {
	case s.comment:
		return false
	case s.fence == "" && match == nil:
		return false
	case s.fence == "":
		if match[1][0] == '`' && strings.Contains(match[2], "`") {
			return false // code within a line
		}
		s.fence = match[1]
	case match != nil && strings.HasPrefix(match[1], s.fence) && strings.TrimSpace(match[2]) == "":
		s.fence = ""
	}
	return true
}

// uncomment takes the comments out of a line.
func (s *criteriaScan) uncomment(line string) string {
	var kept strings.Builder
	for {
		if s.comment {
			_, after, ends := strings.Cut(line, "-->")
			if !ends {
				return kept.String()
			}
			line, s.comment = after, false
		}
		before, after, starts := strings.Cut(line, "<!--")
		kept.WriteString(before)
		if !starts {
			return kept.String()
		}
		line, s.comment = after, true
	}
}

// headingOf gives the level and title of a heading; level 0 for any other line.
func headingOf(line, next string) (level int, title string) {
	if match := atxHeading.FindStringSubmatch(line); match != nil {
		return len(match[1]), match[2]
	}
	// A line underlined is a heading; only one that could be this one's or end it matters, so no item is one.
	under := setextLine.FindStringSubmatch(next)
	if under == nil || strings.TrimSpace(line) == "" || listItem.MatchString(line) || line[0] == ' ' || line[0] == '\t' {
		return 0, ""
	}
	if under[1][0] == '=' {
		return 1, line
	}
	return 2, line
}

// isCriteria reports whether a heading is that of acceptance criteria.
func isCriteria(title string) bool {
	title = strings.Trim(title, " \t*_:")
	return strings.EqualFold(strings.Join(strings.Fields(title), " "), criteriaHeading)
}
