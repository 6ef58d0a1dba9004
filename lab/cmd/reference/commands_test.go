package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// sampleCommand is a command with two below it, one of which is hidden.
func sampleCommand() *cobra.Command {
	sample := &cobra.Command{Use: "sample", Short: "Does nothing", Long: "\nDoes *nothing* at <all>.\n- Really.\n"}
	one := &cobra.Command{
		Use: "one <file> [--size 1]", Short: "Does | one thing", Long: "One.",
		Example: "  root sample one a.txt\n  root sample one b.txt --size 2", Run: func(*cobra.Command, []string) {},
	}
	one.Flags().StringP("output", "o", "", "The file (required)")
	one.Flags().Int("size", 1, "How large, <n>")
	one.Flags().Bool("all", false, "Do all")
	one.Flags().String("secret", "", "")
	_ = one.Flags().MarkHidden("secret") // fails only for a flag that is not there
	one.InitDefaultHelpFlag()
	hidden := &cobra.Command{Use: "two", Hidden: true, Run: func(*cobra.Command, []string) {}}
	sample.AddGroup(&cobra.Group{ID: "first", Title: "The first:"})
	one.GroupID = "first"
	sample.AddCommand(hidden, one)
	(&cobra.Command{Use: "root"}).AddCommand(sample)
	return sample
}

func testCommands(t *testing.T) []command {
	t.Helper()
	all, err := describeCommands(sampleCommand())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestDescribeCommands(t *testing.T) {
	all := testCommands(t)
	want := []command{
		{path: "root sample", usage: "root sample", short: "Does nothing", long: "Does *nothing* at <all>.\n- Really."},
		{
			path: "root sample one", group: "The first", usage: "root sample one <file> [--size 1]", short: "Does | one thing", long: "One.",
			example: "root sample one a.txt\nroot sample one b.txt --size 2",
			flags: []commandFlag{
				{"--all", "off", "Do all"}, {"-o, --output <text>", "required", "The file"},
				{"--size <number>", "`1`", "How large, <n>"},
			},
		},
	}
	if diff := cmp.Diff(want, all, cmp.AllowUnexported(command{}, commandFlag{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	var b bytes.Buffer
	renderCommands(&b, all)
	const rendered = "\n## Commands\n\nDoes \\*nothing\\* at \\<all>.\n\\- Really.\n\nThe first:\n\n" +
		"- [`root sample one`](#root-sample-one): Does | one thing\n" +
		"\n### root sample one\n\n```\nroot sample one <file> [--size 1]\n```\n\nOne.\n\n" +
		"Example:\n\n```sh\nroot sample one a.txt\nroot sample one b.txt --size 2\n```\n\n" +
		"- `--all` (off): Do all\n- `-o, --output <text>` (required): The file\n" +
		"- `--size <number>` (`1`): How large, \\<n>\n"
	if diff := cmp.Diff(rendered, b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A flag of several commands is described once.
func TestCommonFlags(t *testing.T) {
	address := commandFlag{"--address <text>", "", "Where"}
	all := []command{{path: "a"}, {path: "a b"}, {path: "a c"}, {path: "a d"}}
	for i := range all[1:] {
		all[1+i].flags = []commandFlag{address, {"--own", "off", "For " + all[1+i].path}}
	}
	var b bytes.Buffer
	renderCommands(&b, all)
	text := b.String()
	if !strings.HasSuffix(text, "\n### Common flags\n\n- `--address <text>`: Where\n") ||
		strings.Count(text, "- `--own` (off): For a") != 3 ||
		strings.Count(text, "- `--address`: [common flags](#common-flags)\n") != 3 {
		t.Error(text)
	}
}

// What a command does not say of itself is an error, all of it at once.
func TestMissingInCommands(t *testing.T) {
	sample := sampleCommand()
	sample.Long = ""
	bare := &cobra.Command{Use: "bare", Short: "Is bare", Long: "Bare.", Run: func(*cobra.Command, []string) {}}
	bare.Flags().String("naked", "", "")
	foreign := &cobra.Command{Use: "foreign", Short: "A", Long: "A.", Example: "curl", Run: bare.Run}
	sample.AddCommand(bare, foreign)
	_, err := describeCommands(sample)
	if err == nil {
		t.Fatal("nothing is missing")
	}
	for _, problem := range []string{"root sample: it needs both Short and Long", "root sample bare: it has no Example",
		"root sample bare: the flag --naked has no description", `root sample foreign: "curl" is no example of it`} {
		if !strings.Contains(err.Error(), problem) {
			t.Errorf("%v\nlacks %s", err, problem)
		}
	}
	if _, err := commandsOf("nothing"); err == nil {
		t.Error("a command that is not there passes")
	}
}
