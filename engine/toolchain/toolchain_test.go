package toolchain

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/pipe/engine/feedback/convert"
)

// project makes a project of files, each with its text.
func project(files map[string]string) fs.FS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// text shows a command in a line.
func text(c Command, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	script := strings.Replace(c.Script, runUnittest, "UNITTEST", 1)
	out := fmt.Sprintf("%s (%s): %s | %s %s %s", c.Kind, c.Mark, script, c.Format, c.Path, c.Pattern)
	if c.OKExitCodes != nil {
		out += fmt.Sprint(" ", c.OKExitCodes)
	}
	if c.Why != "" {
		out += " why " + c.Why
	}
	return strings.TrimRight(strings.ReplaceAll(strings.ReplaceAll(out, "  ", " "), "  ", " "), " ")
}

func TestFind(t *testing.T) {
	goMod, cargo := "module m\n", "[package]\n"
	pkg := func(scripts string) string { return `{"scripts": {` + scripts + `}}` }
	const junit = `$PIPE_STAGE_DIR/junit.xml`
	for _, tc := range []struct {
		name  string
		files map[string]string
		ask   string // "role", or "dir role"
		want  string
	}{
		{"Go", map[string]string{"go.mod": goMod}, "test", "Go (go.mod): go test -json ./... | go-test"},
		{"Go lint", map[string]string{"go.mod": goMod}, "lint", "Go (go.mod): go vet ./... | go-vet"},
		{"Go build", map[string]string{"go.mod": goMod}, "build", "Go (go.mod): go build ./... | go-vet"},
		{"Go bench", map[string]string{"go.mod": goMod}, "bench", "Go (go.mod): go test -json -run '^$' -bench . -benchmem ./... | go-test"},
		{"Go deploy", map[string]string{"go.mod": goMod}, "deploy", `error: the project is Go (go.mod), which has bench, build, lint, test`},
		{"in a folder", map[string]string{"api/go.mod": goMod, "package.json": pkg(`"test": "jest"`)}, "api test", "Go (go.mod): go test -json ./... | go-test"},
		{"in a folder that is none", map[string]string{"go.mod": goMod}, "api test", `error: "api" is no folder of the project`},
		{"in a folder with nothing", map[string]string{"go.mod": goMod, "docs/a.md": ""}, "docs test",
			`error: "docs" is of no kind whose commands are known (by go.mod, package.json, Cargo.toml, or Python's files)`},
		{"nothing", map[string]string{"README.md": ""}, "test",
			`error: the project is of no kind whose commands are known (by go.mod, package.json, Cargo.toml, or Python's files)`},
		{"a folder that is called go.mod", map[string]string{"go.mod/x": ""}, "test", `error: the project is of no kind`},

		{"two kinds", map[string]string{"go.mod": goMod, "package.json": pkg(`"test": "jest"`)}, "test",
			`error: the project has several commands "test": that of Go (go.mod) and that of Node (package.json)`},
		{"two kinds, one with the command", map[string]string{"go.mod": goMod, "package.json": pkg(`"format": "prettier -w ."`)}, "test", "Go (go.mod): go test -json ./... | go-test"},
		{"two kinds, one with a script of its own", map[string]string{"go.mod": goMod, "package.json": pkg(`"deploy": "sh deploy.sh"`)}, "deploy",
			`Node (package.json): npm run --silent deploy | why the script "deploy" of package.json is "sh deploy.sh", and what that reports is not known (of node --test, vitest, jest, mocha, bun test, ava and tsc it is)`},
		{"three kinds", map[string]string{"go.mod": goMod, "Cargo.toml": cargo, "tests/test_a.py": ""}, "test",
			`error: the project has several commands "test": that of Go (go.mod) and that of Python (tests/test_a.py) and that of Rust (Cargo.toml)`},

		{"Rust", map[string]string{"Cargo.toml": cargo}, "test", "Rust (Cargo.toml): cargo test --no-fail-fast --message-format=short | lines " + rustTests + " [0 101]"},
		{"Rust lint", map[string]string{"Cargo.toml": cargo}, "lint", "Rust (Cargo.toml): cargo clippy --all-targets --message-format=short | lines " + rustDiagnostics + " [0 101]"},

		{"node --test", map[string]string{"package.json": pkg(`"test": "node --test 'test/*.js'"`)}, "test",
			`Node (package.json): NODE_OPTIONS="${NODE_OPTIONS:-} --test-reporter=spec --test-reporter-destination=stdout --test-reporter=junit \"--test-reporter-destination=` + junit + `\"" npm run --silent test | junit ` + junit},
		{"vitest, pnpm", map[string]string{"package.json": pkg(`"test": "tsc && CI=1 vitest run"`), "pnpm-lock.yaml": ""}, "test",
			`Node (package.json): pnpm run test --reporter=default --reporter=junit --outputFile.junit="` + junit + `" | junit ` + junit},
		{"vitest bench", map[string]string{"package.json": pkg(`"bench": "vitest bench"`)}, "bench", `Node (package.json): npm run --silent bench | why the script "bench"`},
		{"jest, yarn", map[string]string{"package.json": pkg(`"test": "cross-env NODE_ENV=test npx jest --ci"`), "yarn.lock": ""}, "test",
			`Node (package.json): yarn run test | lines ^\s*(?P<description>FAIL\s+(?:\S+\s+)?(?P<file>\S+\.[cm]?[jt]sx?))\b`},
		{"jest-junit", map[string]string{"package.json": `{"scripts": {"test": "jest"}, "devDependencies": {"jest-junit": "16"}}`}, "test",
			`Node (package.json): JEST_JUNIT_OUTPUT_FILE="` + junit + `" JEST_JUNIT_ADD_FILE_ATTRIBUTE=true npm run --silent test -- --reporters=default --reporters=jest-junit | junit ` + junit},
		{"mocha", map[string]string{"package.json": pkg(`"test": "nyc mocha"`)}, "test",
			`Node (package.json): npm run --silent test -- --reporter=xunit --reporter-option="output=` + junit + `" | junit ` + junit},
		{"bun", map[string]string{"package.json": pkg(`"test": "bun test"`), "bun.lock": ""}, "test",
			`Node (package.json): bun run test --reporter=junit --reporter-outfile="` + junit + `" | junit ` + junit},
		{"ava", map[string]string{"package.json": pkg(`"test": "ava"`)}, "test", `Node (package.json): npm run --silent test -- --tap | lines ^not ok \d+ - (?P<description>.+)$`},
		{"tsc", map[string]string{"package.json": pkg(`"build": "tsc -p ."`)}, "build",
			`Node (package.json): npm run --silent build -- --pretty false | lines ^(?P<file>[^\s(]+)\((?P<line>\d+),\d+\): (?P<severity>error|warning) (?P<description>.+)$ [0 1 2]`},
		{"a script with a pipe", map[string]string{"package.json": pkg(`"test": "jest | tee log"`)}, "test", `Node (package.json): npm run --silent test | why the script "test"`},
		{"two at once", map[string]string{"package.json": pkg(`"test": "serve & jest"`)}, "test", `Node (package.json): npm run --silent test | why`},
		{"an empty script", map[string]string{"package.json": pkg(`"test": ""`)}, "test", `Node (package.json): npm run --silent test | why`},
		{"npm init's own", map[string]string{"package.json": pkg(`"test": "echo \"Error: no test specified\" && exit 1"`)}, "test",
			`error: the project is Node (package.json): package.json has no script "test"`},
		{"no scripts", map[string]string{"package.json": "{}"}, "lint", `error: the project is Node (package.json): package.json has no script "lint"`},
		{"packageManager comes first", map[string]string{"package.json": `{"packageManager": "pnpm@9.1.0", "scripts": {"test": "x"}}`, "yarn.lock": "", "package-lock.json": ""}, "test",
			"Node (package.json): pnpm run test | why"},
		{"a lock of the workspace", map[string]string{"web/package.json": pkg(`"test": "x"`), "yarn.lock": ""}, "web test", "Node (package.json): yarn run test | why"},
		{"two locks", map[string]string{"package.json": pkg(`"test": "x"`), "yarn.lock": "", "package-lock.json": ""}, "test",
			"error: finding the project's commands: package-lock.json and yarn.lock are both there, so that it can't be told which"},
		{"two locks of one manager", map[string]string{"package.json": pkg(`"test": "x"`), "npm-shrinkwrap.json": "", "package-lock.json": ""}, "test", "Node (package.json): npm run --silent test | why"},
		{"broken package.json", map[string]string{"web/package.json": "{"}, "web test", `error: finding the project's commands: "web/package.json" can't be used: unexpected end of JSON input`},
		{"a script that is a number", map[string]string{"package.json": pkg(`"test": 3`)}, "test", `error: finding the project's commands: "package.json" can't be used: its scripts must not be of the kind number`},
		{"a package.json that is a list", map[string]string{"package.json": "[]"}, "test", `error: finding the project's commands: "package.json" can't be used: its content must not be of the kind array`},
		{"huge package.json", map[string]string{"package.json": strings.Repeat(" ", maxFile+1)}, "test", `error: finding the project's commands: "package.json" has 1048577 bytes, expected at most 1048576`},

		{"pytest by its file", map[string]string{"pytest.ini": ""}, "test", `Python (pytest.ini): PYTHONDONTWRITEBYTECODE=1 python3 -m pytest -o cache_dir="$PIPE_STAGE_DIR/cache" -o junit_family=xunit1 --junitxml="` + junit + `" | junit ` + junit},
		{"pytest by pyproject.toml", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n", "uv.lock": ""}, "test", `Python (pyproject.toml): PYTHONDONTWRITEBYTECODE=1 uv run python -m pytest -o cache_dir="$PIPE_STAGE_DIR/cache" -o junit_family=xunit1 --junitxml="` + junit + `" | junit ` + junit},
		{"pytest as requirement", map[string]string{"pyproject.toml": "[project]\ndependencies = [\"pytest>=8\"]\n"}, "test", `Python (pyproject.toml): PYTHONDONTWRITEBYTECODE=1 python3 -m pytest`},
		{"pytest of poetry", map[string]string{"pyproject.toml": "[tool.poetry.dev-dependencies]\npytest = \"^8\"\n", "poetry.lock": ""}, "test", `Python (pyproject.toml): PYTHONDONTWRITEBYTECODE=1 poetry run python -m pytest`},
		{"pytest in requirements-dev.txt", map[string]string{"requirements-dev.txt": "pytest==8.1\n", "setup.py": ""}, "test", `Python (setup.py): PYTHONDONTWRITEBYTECODE=1 python3 -m pytest`},
		{"pytest by conftest.py", map[string]string{"tests/conftest.py": "", "requirements.txt": ""}, "test", `Python (requirements.txt): PYTHONDONTWRITEBYTECODE=1 python3 -m pytest`},
		{"pytest in a comment", map[string]string{"requirements.txt": "# pytest\nrequests\n", "test_a.py": ""}, "test", "Python (requirements.txt): PYTHONDONTWRITEBYTECODE=1 python3 -c 'UNITTEST' \"" + junit + "\" . | junit " + junit},
		{"another of that name", map[string]string{"requirements.txt": "my-pytest\nrequests\n", "test_a.py": ""}, "test", "Python (requirements.txt): PYTHONDONTWRITEBYTECODE=1 python3 -c"},
		{"unittest", map[string]string{"test_a.py": ""}, "test", "Python (test_a.py): PYTHONDONTWRITEBYTECODE=1 python3 -c 'UNITTEST' \"" + junit + "\" . | junit " + junit},
		{"unittest in a folder", map[string]string{"setup.py": "", "tests/test_a.py": ""}, "test", "Python (setup.py): PYTHONDONTWRITEBYTECODE=1 python3 -c 'UNITTEST' \"" + junit + "\" tests | junit " + junit},
		{"unittest in a package", map[string]string{"setup.py": "", "tests/test_a.py": "", "tests/__init__.py": ""}, "test", "Python (setup.py): PYTHONDONTWRITEBYTECODE=1 python3 -c 'UNITTEST' \"" + junit + "\" . | junit " + junit},
		{"an environment", map[string]string{"setup.py": "", "test_a.py": "", ".venv/bin/python": ""}, "test", "Python (setup.py): PYTHONDONTWRITEBYTECODE=1 .venv/bin/python -c"},
		{"no tests", map[string]string{"setup.py": ""}, "test", `error: the project is Python (setup.py): no pytest is configured or required, and there are no files test*.py`},
		{"no lint", map[string]string{"setup.py": "", "test_a.py": ""}, "lint", `error: the project is Python (setup.py): neither ruff nor flake8 is configured or required`},
		{"no build", map[string]string{"setup.py": "", "test_a.py": ""}, "build", `error: the project is Python (setup.py), which has test`},
		{"ruff", map[string]string{"pyproject.toml": "[tool.ruff]\n"}, "lint", `Python (pyproject.toml): ruff check --output-format=concise . | lines ` + positionLines},
		{"flake8", map[string]string{"setup.cfg": "[flake8]\n", ".venv/bin/python": ""}, "lint", `Python (setup.cfg): .venv/bin/flake8 | lines ` + positionLines},
		{"a name with brackets", map[string]string{"a[b]/test_x.py": ""}, "a[b] test", "Python (test_x.py): PYTHONDONTWRITEBYTECODE=1 python3 -c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, role, ok := strings.Cut(tc.ask, " ")
			if !ok {
				dir, role = ".", tc.ask
			}
			got := text(Find(project(tc.files), dir, role))
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, tc.want)
			}
		})
	}
}

// TestErrors tells apart what is not there and what is there twice.
func TestErrors(t *testing.T) {
	both := project(map[string]string{"go.mod": "", "Cargo.toml": ""})
	var none *NotFoundError
	if _, err := Find(both, ".", "deploy"); !errors.As(err, &none) || strings.Join(none.Roles, " ") != "bench build lint test" || len(none.Kinds) != 2 {
		t.Errorf("%#v", err)
	}
	var many *AmbiguousError
	if _, err := Find(both, ".", "test"); !errors.As(err, &many) || len(many.Commands) != 2 || many.Commands[0].Kind != "Go" || many.Commands[1].Kind != "Rust" {
		t.Errorf("%#v", err)
	}
}

// TestPatterns reads lines as the tools write them.
func TestPatterns(t *testing.T) {
	for _, tc := range []struct{ pattern, line, want string }{
		{rustTests, "test tests::adds ... FAILED", "description=tests::adds ... FAILED"},
		{rustTests, "test src/lib.rs - add (line 5) ... FAILED", "description=src/lib.rs - add (line 5) ... FAILED"},
		{rustTests, "test tests::adds ... ok", ""},
		{rustTests, "test result: FAILED. 1 passed; 1 failed; 0 ignored", ""},
		{rustTests, "src/lib.rs:3:5: error[E0308]: mismatched types", "file=src/lib.rs line=3 description=error[E0308]: mismatched types"},
		{rustTests, "src/lib.rs:3:5: warning: unused variable: `x`", ""},
		{rustErrors, "src/lib.rs:3:5: error: expected `;`", "file=src/lib.rs line=3 description=error: expected `;`"},
		{rustErrors, "src/lib.rs:3:5: warning: unused", ""},
		{rustDiagnostics, "src/lib.rs:3:5: warning: unused variable: `x`", "file=src/lib.rs line=3 severity=warning description=unused variable: `x`"},
		{rustDiagnostics, "src/lib.rs:3:5: error[E0308]: mismatched types", "file=src/lib.rs line=3 severity=error description=mismatched types"},
		{positionLines, "notes.py:1:8: F401 [*] `os` imported but unused", "file=notes.py line=1 description=F401 [*] `os` imported but unused"},
		{positionLines, "./my notes.py:1:1: E302 expected 2 blank lines", "file=./my notes.py line=1 description=E302 expected 2 blank lines"},
		{positionLines, "Found 1 error.", ""},
		{jestLines(t), "FAIL src/sum.test.js", "description=FAIL src/sum.test.js file=src/sum.test.js"},
		{jestLines(t), "FAIL web src/sum.test.tsx (5.2 s)", "description=FAIL web src/sum.test.tsx file=src/sum.test.tsx"},
		{jestLines(t), "PASS src/sum.test.js", ""},
	} {
		re := regexp.MustCompile(tc.pattern)
		var got []string
		if m := re.FindStringSubmatch(tc.line); m != nil {
			for i, name := range re.SubexpNames() {
				if name != "" && m[i] != "" {
					got = append(got, name+"="+m[i])
				}
			}
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: got %q, want %q", tc.line, text, tc.want)
		}
	}
}

// TestCargo reads what cargo really prints, by the command that is found for it.
func TestCargo(t *testing.T) {
	c, err := Find(project(map[string]string{"Cargo.toml": ""}), ".", "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		stdout, stderr string
		exit           int
		want           []string // nil: no review took place
	}{
		{"running 2 tests\ntest tests::ok ... ok\ntest tests::adds ... FAILED\n\nfailures:\n\n---- tests::adds stdout ----\n" +
			"thread 'tests::adds' (248) panicked at src/lib.rs:9:17:\nassertion `left == right` failed\n\nfailures:\n    tests::adds\n\n" +
			"test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.34s\n\n" +
			"running 1 test\ntest src/lib.rs - doc (line 2) ... FAILED\n",
			"   Compiling ct v0.1.0\nerror: test failed, to rerun pass `--lib`\nerror: 2 targets failed:\n    `--lib`\n", 101,
			[]string{"tests::adds ... FAILED :0", "src/lib.rs - doc (line 2) ... FAILED :0"}},
		{"", "   Compiling ct v0.1.0\nsrc/lib.rs:1:39: error[E0277]: cannot subtract `&str` from `i32`\nerror: could not compile `ct` (lib) due to 1 previous error\n" +
			"warning: build failed, waiting for other jobs to finish...\n", 101, []string{"error[E0277]: cannot subtract `&str` from `i32` src/lib.rs:1"}},
		{"test tests::ok ... ok\n\ntest result: ok. 1 passed; 0 failed\n", "src/lib.rs:1:5: warning: unused variable: `x`\n", 0, []string{}},
		{"", "error: could not find `Cargo.toml` in `/repo` or any parent directory\n", 101, nil},
		{"", "sh: cargo: not found\n", 127, nil},
	} {
		r, err := convert.Convert(c.Format, convert.Input{Stdout: strings.NewReader(tc.stdout), Stderr: strings.NewReader(tc.stderr),
			ExitCode: tc.exit, OKExitCodes: c.OKExitCodes, Pattern: regexp.MustCompile(c.Pattern)})
		if (err != nil) != (tc.want == nil) {
			t.Errorf("%q: %v", tc.stderr, err)
			continue
		}
		var got []string
		for _, i := range r.Items {
			got = append(got, fmt.Sprintf("%s %s:%d", i.Description, i.File, i.Line))
		}
		if strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func jestLines(t *testing.T) string {
	t.Helper()
	c, err := Find(project(map[string]string{"package.json": `{"scripts": {"test": "jest"}}`}), ".", "test")
	if err != nil {
		t.Fatal(err)
	}
	return c.Pattern
}

// The script stands between two single quotes of a shell.
func TestUnittestScript(t *testing.T) {
	if strings.Contains(runUnittest, "'") {
		t.Error("it holds a single quote")
	}
}
