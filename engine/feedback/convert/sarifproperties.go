package convert

import "strings"

// isSecurity reads properties and reports whether they are those of a matter of security.
func (r *sarifParts) isSecurity() (yes bool) {
	r.properties(func(name string) { yes = r.saysSecurity(name) || yes })
	return yes
}

// properties reads a property bag, in which a tool may put what it likes.
func (r *sarifParts) properties(member func(name string)) {
	if r.in.Peek() != '{' {
		r.in.Skip()
		return
	}
	r.in.Object(member)
}

// saysSecurity reads a property and reports whether it says that this is a matter of security.
func (r *sarifParts) saysSecurity(name string) (yes bool) {
	yes = name == "security-severity"
	if name != "tags" || r.in.Peek() != '[' {
		r.in.Skip()
		return yes
	}
	r.in.Array(func(int) {
		if r.in.Peek() != '"' {
			r.in.Skip()
			return
		}
		yes = strings.EqualFold(r.in.String(100), "security") || yes
	})
	return yes
}

// resultProperties reads the properties of a result, among them those in which package report keeps what the
// standard has no place for.
func (r *sarifRun) resultProperties(res *sarifResult) {
	r.properties(func(name string) {
		text := r.in.Peek() == '"'
		switch {
		case name == "suggestedFix" && text:
			res.words = strings.TrimSpace(stripColours(r.in.String(maxText)))
		case name == "category" && text:
			res.category = strings.TrimSpace(stripColours(r.in.String(100)))
		default:
			res.security = r.saysSecurity(name) || res.security
		}
	})
}
