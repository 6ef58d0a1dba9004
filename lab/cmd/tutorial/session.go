package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// session is a shell on one machine, in which one block after the other is run as if it were typed: variables stay.
type session struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
	end   string // the line that tells that a block has ended
}

// The first failure ends the shell, and names the line. A block is read from a file that has as many lines before it
// as there are in the document, so that the shell counts as the document does. Nothing that runs may read what is meant
// for the shell.
const preamble = `exec 2>&1
set -eEo pipefail
tutorial=$(mktemp)
trap 'printf "\nline %%d: exit code %%d of: %%s\n" "$LINENO" "$?" "$BASH_COMMAND"' ERR
printf '%%s\n' %[1]s
`

// exitNoMachine is the exit code of a machine's command where there can be no machine, and then of this one.
const exitNoMachine = 77

// noMachine is why a session could not begin.
type noMachine struct{ error }

// startSession runs the command of a machine, which is to be a shell that reads its input.
func startSession(ctx context.Context, name, command string) (*session, error) {
	s := &session{name: name, end: rand.Text()}
	s.cmd = exec.CommandContext(ctx, "sh", "-c", "exec "+command)
	s.cmd.Stderr = os.Stderr
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = 10 * time.Second
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(stdout)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var output string
	if _, err = fmt.Fprintf(s.stdin, preamble, s.end); err != nil {
		err = s.ended(err)
	} else {
		output, err = s.read()
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == exitNoMachine {
		return nil, noMachine{err}
	} else if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, output)
	}
	return s, nil
}

// run runs a block and returns what it printed.
func (s *session) run(b block) (string, error) {
	here := rand.Text()
	_, err := fmt.Fprintf(s.stdin, `cat >"$tutorial" <<'%[1]s'
%[2]s%[3]s%[1]s
. "$tutorial" </dev/null
printf '\n%%s\n' %[4]s
`, here, strings.Repeat("\n", b.line-1), b.text, s.end)
	if err != nil {
		return "", s.ended(err)
	}
	return s.read()
}

// read returns what is printed before the line that tells of a block's end.
func (s *session) read() (string, error) {
	var output strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if strings.TrimSuffix(line, "\n") == s.end {
			return output.String(), nil
		}
		output.WriteString(line)
		if err != nil {
			return output.String(), s.ended(err)
		}
	}
}

// ended says how the shell ended, after err.
func (s *session) ended(err error) error {
	s.stdin.Close()
	if waited := s.cmd.Wait(); waited != nil {
		err = waited
	} else if errors.Is(err, io.EOF) {
		err = errors.New("the shell has ended")
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// close ends the shell.
func (s *session) close() error {
	s.stdin.Close()
	_, _ = io.Copy(io.Discard, s.out)
	return s.cmd.Wait()
}
