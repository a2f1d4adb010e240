package convert

import (
	"net/url"
	"path"
	"strings"
)

// placeURI gives the file that a URI names, relative to the root. One that is no file of this machine keeps
// its scheme, so that package feedback drops it and says so. A relative one is taken from the folder of the
// execution; where there is no such file and there is one from the root, it is that.
func (f *findings) placeURI(uri string) string {
	uri = strings.ReplaceAll(strings.TrimSpace(uri), `\`, "/")
	if len(uri) > 1 && uri[1] == ':' {
		uri = "/" + uri // a drive of another system is no folder of this one
	}
	name := uri
	if u, err := url.Parse(uri); err == nil {
		switch {
		case u.Scheme == "file" && (u.Host == "" || u.Host == "localhost"):
			name = u.Path
			if u.Opaque != "" {
				name = u.Opaque
			}
		case u.Scheme != "" && u.Opaque != "":
			return u.Scheme + "://" + u.Opaque
		case u.Scheme == "" && u.Host != "": // a folder that begins with two slashes is one of this machine
			name = path.Clean(uri)
		case u.Scheme == "file": // of another machine
			return "/" + uri
		case u.Scheme != "":
			return u.Scheme + "://" + u.Host + u.Path
		case u.Path != "":
			name = u.Path
		}
	}
	return f.placeFile(name)
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
