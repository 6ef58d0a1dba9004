package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"pgregory.net/rapid"
)

// probe is a command that notes how it was called.
func probe() (cmd *cobra.Command, got *struct {
	args []string
	size int
	name string
}) {
	got = new(struct {
		args []string
		size int
		name string
	})
	cmd = &cobra.Command{
		Use: "probe", DisableFlagParsing: true, SilenceErrors: true, SilenceUsage: true,
		RunE: withNegativeNumbers(func(_ *cobra.Command, args []string) error {
			got.args = args
			return nil
		}),
	}
	cmd.Flags().IntVar(&got.size, "size", 1, "")
	cmd.Flags().StringVarP(&got.name, "name", "n", "", "")
	cmd.Flags().Bool("loud", false, "")
	return cmd, got
}

func TestNegativeNumbers(t *testing.T) {
	for _, tc := range []struct {
		line string
		args string
		size int
		name string
	}{
		{"f 39.1 -75.5", "f 39.1 -75.5", 1, ""},
		{"f -39.1 -75.5 --size 3", "f -39.1 -75.5", 3, ""},
		{"--size -3 f -.5 +1e-3", "f -.5 +1e-3", -3, ""},
		{"--size=2 -1 -2 --loud -3", "-1 -2 -3", 2, ""},
		{"f -- -1 --size -2", "f -1 --size -2", 1, ""},
		{"--loud - --name x -5", "- -5", 1, "x"},
		{"-n=x -5", "-5", 1, "x"},
	} {
		cmd, got := probe()
		cmd.SetArgs(strings.Fields(tc.line))
		if err := cmd.Execute(); err != nil {
			t.Errorf("%s: %v", tc.line, err)
		} else if args := strings.Join(got.args, " "); args != tc.args || got.size != tc.size || got.name != tc.name {
			t.Errorf("%s: arguments %s, size %d, name %q", tc.line, args, got.size, got.name)
		}
	}
	for line, says := range map[string]string{
		"f -x -75.5": "unknown shorthand flag", "--nothing": "unknown flag", "--size": "needs an argument", "--size x": "invalid argument",
	} {
		cmd, _ := probe()
		cmd.SetArgs(strings.Fields(line))
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, line := range []string{"--help", "-h", "f -75.5 --help"} {
		cmd, got := probe()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetArgs(strings.Fields(line))
		if err := cmd.Execute(); err != nil || !strings.Contains(out.String(), "--size") || got.args != nil {
			t.Errorf("%s: %v, %s", line, err, &out)
		}
	}
}

// Where flags may stand makes no difference.
func TestFlagsAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.Permutation([][]string{{"file"}, {"-1"}, {"-75.5"}, {"--size", "-4"}, {"--name=a b"}, {"--loud"}}).Draw(t, "groups")
		var line, want []string
		for _, g := range groups {
			line = append(line, g...)
			if !strings.HasPrefix(g[0], "--") {
				want = append(want, g...)
			}
		}
		cmd, got := probe()
		cmd.SetArgs(line)
		if err := cmd.Execute(); err != nil || got.size != -4 || got.name != "a b" {
			t.Fatalf("%q: %v, %+v", line, err, got)
		}
		if diff := cmp.Diff(want, got.args); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", line, diff)
		}
	})
}
