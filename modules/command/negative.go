package command

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// withNegativeNumbers makes a command accept negative numbers as arguments without a preceding --. pflag would parse
// -75.5 as a flag. The command must set DisableFlagParsing.
func withNegativeNumbers(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cmd.InitDefaultHelpFlag()
		err := cmd.Flags().Parse(guardNegativeNumbers(cmd.Flags(), args))
		if errors.Is(err, pflag.ErrHelp) {
			return cmd.Help()
		}
		if err != nil {
			return cmd.FlagErrorFunc()(cmd, err)
		}
		if help, err := cmd.Flags().GetBool("help"); err == nil && help {
			return cmd.Help()
		}
		return run(cmd, cmd.Flags().Args())
	}
}

// guardNegativeNumbers moves flags with their values to the front, followed by -- and everything else.
func guardNegativeNumbers(flags *pflag.FlagSet, args []string) []string {
	var guarded, rest []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case len(arg) < 2 || arg[0] != '-' || isNegativeNumber(arg):
			rest = append(rest, arg)
		default:
			guarded = append(guarded, arg)
			name, long := strings.CutPrefix(arg, "--")
			if flag := flags.Lookup(name); !long || flag == nil || flag.NoOptDefVal != "" {
				continue // its value is in the same argument, or it has none
			}
			if i++; i == len(args) {
				return guarded // Parse reports the missing value
			}
			guarded = append(guarded, args[i])
		}
	}
	return append(append(guarded, "--"), rest...)
}

// isNegativeNumber reports whether an argument begins with a minus, an optional point and a digit.
func isNegativeNumber(arg string) bool {
	digits, minus := strings.CutPrefix(arg, "-")
	digits = strings.TrimPrefix(digits, ".")
	return minus && digits != "" && digits[0] >= '0' && digits[0] <= '9'
}
