package proc

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// LookPath finds a program by its bare name in the PATH of env, not in our own, as the process itself would.
// A relative entry of PATH is relative to dir. A name with a slash is returned as it is. The error is a
// *StartError: NotFound, or NotPermitted if only files were found that may not be executed.
func LookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	reason := error(syscall.ENOENT)
	if name != "" {
		for _, entry := range filepath.SplitList(Getenv(env, "PATH")) {
			file := filepath.Join(resolve(dir, entry), name)
			info, err := os.Stat(file)
			if err != nil || info.IsDir() {
				continue
			}
			if info.Mode()&0o111 != 0 {
				return file, nil
			}
			reason = syscall.EACCES
		}
	}
	return "", startError(&Spec{Path: name, Dir: dir}, name, reason)
}

// Startable finds a program as LookPath does, and asks beforehand what a start would find: that a program with a
// slash in its name, relative to dir, is there and may be executed, and that a script's interpreter is. The error is
// a *StartError.
func Startable(name, dir string, env []string) (string, error) {
	found, err := LookPath(name, dir, env)
	if err != nil {
		return "", err
	}
	fail := func(reason error) (string, error) { return "", startError(&Spec{Path: name, Dir: dir}, found, reason) }
	file := resolve(dir, found)
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fail(err)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fail(syscall.EACCES)
	}
	script, isScript := strings.CutPrefix(firstLine(file), "#!")
	if !isScript {
		return found, nil
	}
	interpreter, _, _ := strings.Cut(strings.TrimLeft(script, " \t"), " ")
	interpreter, _, _ = strings.Cut(interpreter, "\t")
	if info, err := os.Stat(resolve(dir, interpreter)); err != nil || info.IsDir() {
		return fail(syscall.ENOENT)
	}
	return found, nil
}

// firstLine reads the first line of a file, as far as the system looks at it for an interpreter; "" where the file
// is no regular one or can't be read.
func firstLine(file string) string {
	const most = 256
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, most)) // what could be read is looked at
	line, _, _ := strings.Cut(string(head), "\n")
	return line
}

// Getenv returns the value of a variable in env; the last one counts.
func Getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name); ok && strings.HasPrefix(v, "=") {
			return v[1:]
		}
	}
	return ""
}
