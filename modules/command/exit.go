package command

import (
	"cmp"
	"errors"
	"fmt"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
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
// missing flags, and errors of usagef.
func setExitCodes(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		setExitCodes(sub)
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return exit(cmd, usageError{err}) })
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(check(cmd, args), cmd.ValidateRequiredFlags()); err != nil {
				return exit(cmd, usageError{err})
			}
			return nil
		}
	}
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return exit(cmd, run(cmd, args)) }
	}
}

// exit returns the error of a command. Only Caddy can make one with another exit code than 1, and would log its text.
func exit(cmd *cobra.Command, err error) error {
	if _, usage := errors.AsType[usageError](err); !usage {
		return err
	}
	cmd.PrintErrln(cmd.ErrPrefix(), err)
	cmd.SilenceErrors = true
	code := caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return exitUsage, nil })(cmd, nil)
	return coded{err, code}
}
