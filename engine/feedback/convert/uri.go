package convert

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// maxName is how much is kept of a name, or of the address of a file.
const maxName = 1 << 10

// placeURI gives the file that a URI names, relative to the root. One that is no file of this machine keeps
// its scheme, so that package feedback drops it and says so. A relative one is taken from the folder of the
// execution; where there is no such file and there is one from the root, it is that.
func (f *findings) placeURI(uri string) string {
	uri = strings.ReplaceAll(strings.TrimSpace(uri), `\`, "/")
	if len(uri) > 1 && uri[1] == ':' {
		uri = "/" + uri // a drive of another system is no folder of this one
	}
	name, _, _ := strings.Cut(uri, "#")
	name, _, _ = strings.Cut(name, "?")
	if scheme, rest, ok := strings.Cut(name, ":"); ok && isScheme(scheme) {
		host, file := "", rest
		if after, ok := strings.CutPrefix(rest, "//"); ok {
			host, file, _ = strings.Cut(after, "/")
			file = "/" + file
		}
		switch {
		case !strings.EqualFold(scheme, "file"):
			return scheme + "://" + strings.TrimPrefix(rest, "//")
		case host != "" && host != "localhost": // of another machine
			return "/" + uri
		}
		name = file
	}
	return f.placeFile(unescape(name))
}

// isScheme reports whether this may stand before the colon of a URI.
func isScheme(s string) bool {
	for i, c := range s {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && !strings.ContainsRune("+-.", c)) {
			return false
		}
	}
	return s != ""
}

// unescape takes what a URI writes as %20 for what it is; what is no such escape stays.
func unescape(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "%")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if s = after; len(s) >= 2 {
			if n, err := strconv.ParseUint(s[:2], 16, 8); err == nil {
				b.WriteByte(byte(n))
				s = s[2:]
				continue
			}
		}
		b.WriteByte('%')
	}
}

// FileURI writes a file's path, with slashes, as a URI reference from which placeURI reads it: a colon in it begins
// no scheme, and nothing begins a query or another host.
func FileURI(file string) string {
	const plain = "-._~/!$&'()*+,;=@"
	var b strings.Builder
	if strings.HasPrefix(file, "//") {
		b.WriteString("/.")
	}
	for i := range len(file) {
		c := file[i]
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' && c < 0x80 || strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// placeFile is place for reports whose tools name files from their folder, or from the root.
func (f *findings) placeFile(name string) string {
	placed, clean := f.place(name), path.Clean(name)
	if placed == "." || path.IsAbs(placed) && path.Clean(placed) == path.Clean(f.in.Root) {
		return "" // the repository as a whole
	}
	if isElsewhere(placed) || isElsewhere(clean) || clean == placed || f.in.LineText == nil {
		return placed
	}
	if f.in.LineText(placed, 1) == "" && f.in.LineText(clean, 1) != "" {
		return clean
	}
	return placed
}

// isElsewhere reports whether a placed file is no file of the repository.
func isElsewhere(file string) bool {
	return file == "" || path.IsAbs(file) || strings.HasPrefix(file, "..") || strings.Contains(file, "://")
}
