package command

import (
	"cmp"
	"errors"
	"fmt"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// exitUsage is the exit code for a mistake on the command line. Other failures exit with 1.
const exitUsage = 2

// usageError is a mistake on the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// coded is an error with the exit code for Caddy.
type coded struct {
	error
	code error
}

// Unwrap returns both.
func (c coded) Unwrap() []error { return []error{c.error, c.code} }

// setExitCodes makes a command and those below it exit with exitUsage for unknown commands and flags, wrong arguments,
// missing and empty flags, and errors of usagef.
func setExitCodes(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		setExitCodes(sub)
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return exit(cmd, usageError{flagError(err)}) })
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(check(cmd, args), cmd.ValidateRequiredFlags(), notEmpty(cmd.Flags())); err != nil {
				return exit(cmd, usageError{err})
			}
			return nil
		}
	}
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return exit(cmd, run(cmd, args)) }
	}
}

// exit prints a usageError and gives it its exit code. Only Caddy can make an error with another exit code than 1, and
// it would log its text.
func exit(cmd *cobra.Command, err error) error {
	if _, done := errors.AsType[coded](err); done {
		return err
	}
	if _, usage := errors.AsType[usageError](err); !usage {
		return err
	}
	cmd.PrintErrln(cmd.ErrPrefix(), err)
	cmd.SilenceErrors = true
	code := caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return exitUsage, nil })(cmd, nil)
	return coded{err, code}
}

// flagError says what a flag's value must be, in place of the error of package strconv.
func flagError(err error) error {
	invalid, is := errors.AsType[*pflag.InvalidValueError](err)
	if !is {
		return err
	}
	kind := map[string]string{"int": "a whole number", "float64": "a number", "bool": "true or false"}
	flag, value := invalid.GetFlag(), invalid.GetValue()
	return fmt.Errorf("--%s: %q is not %s", flag.Name, value, cmp.Or(kind[flag.Value.Type()], flag.Value.Type()))
}

// notEmpty refuses an empty value of a required flag.
func notEmpty(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations[cobra.BashCompOneRequiredFlag] != nil && flag.Value.String() == "" {
			err = fmt.Errorf("--%s: must not be empty", flag.Name)
		}
	})
	return err
}

// noArgs replaces cobra.NoArgs, which calls an argument an unknown command.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("no arguments are expected, got %q", args[0])
	}
	return nil
}
