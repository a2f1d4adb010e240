package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStartErrors(t *testing.T) {
	s := newStarter(t)
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	plain := write("plain", "#!/bin/sh\n", 0o600)
	env := []string{"PATH=" + dir + ":/usr/bin:/bin"}
	for _, tc := range []struct {
		name   string
		spec   Spec
		reason Reason
		want   string
	}{
		{"bare name", Spec{Path: "nosuch"}, NotFound, `there is no program "nosuch" in PATH`},
		{"path", Spec{Path: "./nosuch"}, NotFound, `there is no program "./nosuch"`},
		{"below a file", Spec{Path: plain + "/x"}, NotFound, `there is no program "` + plain + `/x"`},
		{"empty", Spec{}, NotFound, `there is no program "" in PATH`},
		{"interpreter", Spec{Path: write("odd", "#!/no/such/interpreter\n", 0o700)}, NotFound, "interpreter that its first line names is missing"},
		{"CR LF", Spec{Path: write("crlf", "#!/bin/sh\r\ntrue\r\n", 0o700)}, NotFound, "its lines end in CR LF, expected LF alone"},
		{"mode", Spec{Path: plain}, NotPermitted, "permission denied (chmod +x makes a file executable)"},
		{"mode in PATH", Spec{Path: "plain"}, NotPermitted, `may not execute "plain"`},
		{"folder", Spec{Path: dir}, NotPermitted, "may not execute"},
		{"format", Spec{Path: write("noformat", "\x00\x01\x02", 0o700)}, BadFormat, "no program for this machine"},
		{"directory", Spec{Path: "true", Dir: dir + "/gone"}, NoDir, `its directory "` + dir + `/gone" is not there`},
		{"directory is a file", Spec{Path: "true", Dir: plain}, NoDir, "is not a directory"},
		{"argument", Spec{Path: "true", Args: []string{"a", strings.Repeat("x", 200<<10)}}, TooBig, "the largest is argument 2 with 204800 bytes; hand large values over in a file"},
		{"variable", Spec{Path: "true", Env: append(env, "BIG="+strings.Repeat("x", 200<<10))}, TooBig, `the largest is the variable "BIG" with 204804 bytes`},
		{"NUL", Spec{Path: "true", Args: []string{"a\x00b"}}, BadArgument, "a NUL character in argument 1"},
		{"NUL in a variable", Spec{Path: "true", Env: append(env, "A=b\x00")}, BadArgument, `a NUL character in the variable "A"`},
		{"long name", Spec{Path: "/" + strings.Repeat("x", 5000)}, UnknownReason, "file name too long"},
		{"stdin", Spec{Path: "true", Stdin: dir + "/gone"}, NoStdin, `/gone" can't be opened`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.spec.Env == nil {
				tc.spec.Env = env
			}
			res, err := s.Run(context.Background(), tc.spec)
			var start *StartError
			if !errors.As(err, &start) || start.Reason != tc.reason || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %v: %s", err, tc.reason, tc.want)
			}
			if r := tc.reason; (r == NotFound || r == NotPermitted) && tc.spec.Path != "" {
				if _, before := Startable(tc.spec.Path, tc.spec.Dir, env); before == nil || before.Error() != err.Error() {
					t.Errorf("asked before: %v, want %v", before, err)
				}
			}
			if res.Started || res.ExitCode != -1 || start.Unwrap() == nil {
				t.Errorf("result %+v of a process that did not start", res)
			}
		})
	}
}

// TestStartable asks for programs that can be started.
func TestStartable(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"sh": "#!/bin/sh\ntrue\n", "env": "#! /usr/bin/env sh", "tab": "#!/bin/sh\t-e\n", "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		if got, err := Startable("./"+name, dir, nil); err != nil || got != "./"+name {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if got, err := Startable(name, "/", []string{"PATH=" + dir}); err != nil || got != filepath.Join(dir, name) {
			t.Errorf("%s in PATH: %q, %v", name, got, err)
		}
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/tool", "b/tool", "a/folder/x", "b/folder"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=/nowhere", "PATH=" + dir + "/none:b:" + dir + "/a"}
	for name, want := range map[string]string{
		"tool":   dir + "/b/tool", // a relative entry of PATH is the process's
		"folder": dir + "/b/folder",
		"./tool": "./tool",
		"/x/y":   "/x/y",
	} {
		if got, err := LookPath(name, dir, env); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, want)
		}
	}
	if got, err := LookPath("tool", dir, nil); err == nil {
		t.Errorf("without a PATH: got %q", got)
	}
}
