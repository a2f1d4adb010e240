package proc

import (
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

// Getenv returns the value of a variable in env; the last one counts.
func Getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name); ok && strings.HasPrefix(v, "=") {
			return v[1:]
		}
	}
	return ""
}
