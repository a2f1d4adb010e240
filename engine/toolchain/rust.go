package toolchain

// The lines of cargo with --message-format=short: what the compiler says, and in tests those that failed.
const (
	rustDiagnostics = `^(?P<file>[^\s:]+\.rs):(?P<line>\d+):\d+: (?P<severity>error|warning)(?:\[\w+\])?: (?P<description>.+)$`
	rustErrors      = `^(?P<file>[^\s:]+\.rs):(?P<line>\d+):\d+: (?P<description>error(?:\[\w+\])?: .+)$`
	rustTests       = `^(?:(?P<file>[^\s:]+\.rs):(?P<line>\d+):\d+: |test )(?P<description>error(?:\[\w+\])?: .+|.+ \.\.\. FAILED)$`
)

// rustTools are the commands of a crate. Cargo exits with 101 where something was found.
func rustTools(f folder) (*tools, error) {
	if !f.has("Cargo.toml") {
		return nil, nil
	}
	found := func(role, script, pattern string) Command {
		return Command{Role: role, Script: script, Format: "lines", Pattern: pattern, OKExitCodes: []int{0, 101}}
	}
	return &tools{kind: "Rust", mark: "Cargo.toml", commands: []Command{
		found("test", "cargo test --no-fail-fast --message-format=short", rustTests),
		found("lint", "cargo clippy --all-targets --message-format=short", rustDiagnostics),
		found("build", "cargo build --message-format=short", rustErrors),
		found("bench", "cargo bench --message-format=short", rustTests),
	}}, nil
}
