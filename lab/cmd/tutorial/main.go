// Command tutorial follows a document: it runs the commands in it as they are written, on the machines that they are
// for, and compares their output with the document's. .ci/tutorial makes the machines.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// machines are those that the tutorial speaks of. Commands are for the first, where they do not say otherwise.
var machines = []string{"first", "second"}

func main() {
	document := flag.String("document", "docs/start/tutorial.md", "the document to follow")
	limit := flag.Duration("limit", 15*time.Minute, "how long all of it may take")
	commands := make(map[string]*string)
	for _, machine := range machines {
		commands[machine] = flag.String(machine, "", "`command` that is a shell on the "+machine+" machine")
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	if err := follow(ctx, *document, commands); err != nil {
		fmt.Fprintf(os.Stderr, "tutorial: %v\n", err)
		var absent noMachine
		if errors.As(err, &absent) {
			os.Exit(exitNoMachine)
		}
		os.Exit(1)
	}
}

func follow(ctx context.Context, document string, commands map[string]*string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	blocks, err := parse(string(text), machines)
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	sessions := make(map[string]*session)
	defer func() {
		for _, s := range sessions {
			_ = s.close() // ended already, where a block has failed
		}
	}()
	for _, b := range blocks {
		for _, machine := range b.machines {
			if sessions[machine] == nil {
				s, err := startSession(ctx, machine, *commands[machine])
				if err != nil {
					return err
				}
				sessions[machine] = s
			}
			fmt.Printf("-- %s:%d on the %s machine\n%s", document, b.line, machine, b.text)
			began := time.Now()
			output, err := sessions[machine].run(b)
			fmt.Printf("   | %s\n   (%.1f s)\n", strings.Join(outputLines(output), "\n   | "), time.Since(began).Seconds())
			if err != nil {
				return fmt.Errorf("%s, block at line %d: %w", document, b.line, err)
			}
			if b.shows != nil && !matches(b.shows, outputLines(output)) {
				return fmt.Errorf("%s, line %d: it shows\n%s\nand printed was\n%s", document, b.showLine,
					strings.Join(b.shows, "\n"), output)
			}
		}
	}
	fmt.Printf("%s: %d blocks, all as written\n", document, len(blocks))
	return nil
}
