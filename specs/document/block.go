package document

import "strings"

// block explains a literal or folded block scalar; i is the place of its indicator. It returns the end of
// the last line with content.
//
// Where the header gives the indentation as a number, that number counts from a parent that is not known
// here. The decoded text decides then: only one indentation leads to it.
func (t *trace) block(i int, folded bool) int {
	header, next := t.line(i)
	least, most := t.indents(i, header, next)
	for indent := least; indent <= most; indent++ {
		try := *t
		end := try.lines(next, header, indent, folded)
		if try.ok && try.n == len(t.want) || indent == most {
			*t = try
			return end
		}
	}
	return header
}

// lines explains the lines of a block scalar from i on, indented by indent. end is where its header ends.
func (t *trace) lines(i, end, indent int, folded bool) int {
	var lead int    // place of the break that ended the line before; -1: there was none
	var empty []int // places of the breaks of empty lines after it
	var blankBefore, some bool
	lead = -1
	i, empty = t.indentation(i, indent, nil)
	for t.ok && i < len(t.text) && t.column(i) == indent && t.n < len(t.want) {
		blank := IsBlank(t.text[i])
		switch {
		case lead < 0:
		case folded && !blankBefore && !blank:
			if len(empty) == 0 {
				t.other(" ", lead)
			}
		default:
			t.other("\n", lead)
		}
		for _, at := range empty {
			t.other("\n", at)
		}
		blankBefore, some = blank, true
		stop, after := t.line(i)
		t.emit(t.text[i:stop], i)
		end, lead = stop, -1
		if after > stop {
			lead = stop
		}
		i, empty = t.indentation(after, indent, empty[:0])
	}
	t.tail(lead, empty, some)
	return end
}

// tail explains the breaks that the chomping indicator kept.
func (t *trace) tail(lead int, empty []int, some bool) {
	if some && lead >= 0 {
		empty = append([]int{lead}, empty...)
	}
	for _, at := range empty {
		if t.n < len(t.want) {
			t.other("\n", at)
		}
	}
}

// indentation steps over up to indent spaces of each line, and over empty lines, whose breaks it gathers.
func (t *trace) indentation(i, indent int, empty []int) (int, []int) {
	for i < len(t.text) {
		start := i
		for i < len(t.text) && i-start < indent && t.text[i] == ' ' {
			i++
		}
		if i == len(t.text) || !IsBreak(t.text[i]) {
			return i, empty
		}
		empty = append(empty, i)
		_, i = t.line(i)
	}
	return i, empty
}

// column returns how far i, which has only spaces before it, stands in its line.
func (t *trace) column(i int) int {
	return i - (strings.LastIndexAny(t.text[:i], "\r\n") + 1)
}

// indents returns the least and the most indentation that the content of a block scalar with the header
// text[i:end] may have.
func (t *trace) indents(i, end, next int) (least, most int) {
	header := strings.TrimLeft(t.text[i+1:end], "+-")
	given := header != "" && header[0] >= '1' && header[0] <= '9'
	for at := next; at < len(t.text); {
		stop, after := t.line(at)
		spaces := stop - at - len(strings.TrimLeft(t.text[at:stop], " "))
		most = max(most, spaces)
		if spaces < stop-at {
			if given {
				most = spaces
			}
			break
		}
		at = after
	}
	most = max(most, 1)
	if given {
		return 1, min(most, MaxDepth)
	}
	return most, most
}
