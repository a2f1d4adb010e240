package toolchain

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
)

// packageJSON is what is read of package.json.
type packageJSON struct {
	Scripts         map[string]string `json:"scripts"`
	PackageManager  string            `json:"packageManager"`
	Dependencies    map[string]any    `json:"dependencies"`
	DevDependencies map[string]any    `json:"devDependencies"`
}

// nodeLocks are the files that package managers leave, with whose they are.
var nodeLocks = [...]struct{ file, manager string }{
	{"package-lock.json", "npm"}, {"npm-shrinkwrap.json", "npm"}, {"pnpm-lock.yaml", "pnpm"},
	{"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"},
}

// nodeTools are the scripts of package.json, each a command of its own name.
func nodeTools(f folder) (*tools, error) {
	const mark = "package.json"
	if !f.has(mark) {
		return nil, nil
	}
	text, err := f.read(mark)
	if err != nil {
		return nil, err
	}
	var p packageJSON
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("its %s must not be of the kind %s", cmp.Or(wrong.Field, "content"), wrong.Value)
		}
		return nil, fmt.Errorf("finding the project's commands: %q can't be used: %w", path.Join(f.dir, mark), err)
	}
	manager, err := nodeManager(f, &p)
	if err != nil {
		return nil, err
	}
	t := &tools{kind: "Node", mark: mark, why: map[string]string{}}
	for _, role := range []string{"test", "lint", "build", "bench"} {
		t.why[role] = fmt.Sprintf("package.json has no script %q", role)
	}
	for name, script := range p.Scripts { // sorted below
		if !strings.Contains(script, "no test specified") { // what npm init writes
			t.commands = append(t.commands, nodeCommand(name, script, manager, &p))
		}
	}
	sort.Slice(t.commands, func(i, j int) bool { return t.commands[i].Role < t.commands[j].Role })
	return t, nil
}

// nodeManager gives the package manager: what package.json names, else whose lock file is there, else npm.
func nodeManager(f folder, p *packageJSON) (string, error) {
	if name, _, _ := strings.Cut(p.PackageManager, "@"); name != "" {
		for _, lock := range nodeLocks {
			if lock.manager == name {
				return name, nil
			}
		}
	}
	names := make([]string, len(nodeLocks))
	for i, lock := range nodeLocks {
		names[i] = lock.file
	}
	var managers []string
	files := f.above(names...)
	for _, lock := range nodeLocks {
		if slices.Contains(files, lock.file) && !slices.Contains(managers, lock.manager) {
			managers = append(managers, lock.manager)
		}
	}
	switch len(managers) {
	case 0:
		return "npm", nil
	case 1:
		return managers[0], nil
	}
	return "", fmt.Errorf("finding the project's commands: %s are both there, so that it can't be told which package manager runs the scripts; name it in package.json (packageManager), or remove the file that is left over",
		strings.Join(files, " and "))
}

// nodeCommand makes a command of a script, with the report of the runner that it starts.
func nodeCommand(name, script, manager string, p *packageJSON) Command {
	c := Command{Role: name}
	run := func(args string) string {
		switch {
		case manager == "npm" && args != "":
			return "npm run --silent " + name + " -- " + args
		case manager == "npm":
			return "npm run --silent " + name
		case args != "":
			return manager + " run " + name + " " + args
		}
		return manager + " run " + name
	}
	words := lastCommand(script)
	first := ""
	if len(words) > 0 {
		first = words[0]
	}
	junit := func(script string) {
		c.Script, c.Format, c.Path = script, "junit", reportPath
	}
	lines := func(script, pattern string, ok ...int) {
		c.Script, c.Format, c.Pattern, c.OKExitCodes = script, "lines", pattern, ok
	}
	switch {
	case (first == "node" || first == "tsx") && slices.Contains(words, "--test"):
		// Options behind the names of files would be the tests' own.
		junit(`NODE_OPTIONS="${NODE_OPTIONS:-} --test-reporter=spec --test-reporter-destination=stdout --test-reporter=junit \"--test-reporter-destination=` +
			reportPath + `\"" ` + run(""))
	case first == "vitest" && (len(words) == 1 || words[1] == "run" || words[1] == "--run"):
		junit(run(`--reporter=default --reporter=junit --outputFile.junit="` + reportPath + `"`))
	case first == "jest" && p.requires("jest-junit"):
		junit(`JEST_JUNIT_OUTPUT_FILE="` + reportPath + `" JEST_JUNIT_ADD_FILE_ATTRIBUTE=true ` + run("--reporters=default --reporters=jest-junit"))
	case first == "jest":
		lines(run(""), `^\s*(?P<description>FAIL\s+(?:\S+\s+)?(?P<file>\S+\.[cm]?[jt]sx?))\b`)
	case first == "mocha":
		junit(run(`--reporter=xunit --reporter-option="output=` + reportPath + `"`))
	case first == "bun" && len(words) > 1 && words[1] == "test":
		junit(run(`--reporter=junit --reporter-outfile="` + reportPath + `"`))
	case first == "ava":
		lines(run("--tap"), `^not ok \d+ - (?P<description>.+)$`)
	case first == "tsc":
		lines(run("--pretty false"), `^(?P<file>[^\s(]+)\((?P<line>\d+),\d+\): (?P<severity>error|warning) (?P<description>.+)$`, 0, 1, 2)
	default:
		c.Script = run("")
		c.Why = fmt.Sprintf("the script %q of package.json is %q, and what that reports is not known (of node --test, vitest, jest, mocha, bun test, ava and tsc it is)",
			name, clip(script))
	}
	return c
}

func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

func (p *packageJSON) requires(name string) bool {
	_, dev := p.DevDependencies[name]
	_, run := p.Dependencies[name]
	return dev || run
}

// lastCommand gives the words of the last command of a script, to which arguments of the script go: without
// variables that are set for it and what only wraps it. A script that is more than commands in a row has none.
func lastCommand(script string) []string {
	if strings.ContainsAny(script, ";|<>`$()\n") {
		return nil
	}
	parts := strings.Split(script, "&&")
	last := parts[len(parts)-1]
	if strings.Contains(last, "&") {
		return nil
	}
	words := strings.Fields(last)
	for len(words) > 0 {
		name, _, assigns := strings.Cut(words[0], "=")
		wraps := slices.Contains([]string{"npx", "cross-env", "c8", "nyc"}, words[0])
		if !wraps && (!assigns || strings.HasPrefix(name, "-")) {
			break
		}
		words = words[1:]
	}
	return words
}
