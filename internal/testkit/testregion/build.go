package testregion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/mapsedge/caddy-maps/internal/compiler"
)

// Build is what compiling an extract took.
type Build struct {
	Extract   int64         // bytes
	Region    int64         // bytes
	Took      time.Duration // by the clock
	Processor time.Duration // of all cores; 0 where the build was no process of its own
	Anonymous int64         // bytes: peak of anonymous memory
	Scratch   int64         // bytes: peak of temporary files
}

// Builder compiles an extract into a region file.
type Builder func(ctx context.Context, extract, output string) (Build, error)

// InProcess is a Builder that compiles in this process. What it takes at most counts what the process has taken before.
func InProcess(ctx context.Context, extract, output string) (Build, error) {
	watch := watchMemory(os.Getpid(), "")
	began := time.Now()
	_, err := compiler.Build(ctx, compiler.Options{Inputs: []string{extract}, Output: output})
	b := Build{Took: time.Since(began)}
	b.Anonymous, _ = watch.stop()
	return b, errors.Join(err, b.sizes(extract, output))
}

// Command is a Builder that runs `caddy maps build` of a binary, with more arguments.
func Command(binary string, arguments ...string) Builder {
	return func(ctx context.Context, extract, output string) (Build, error) {
		args := append([]string{"maps", "build", extract, "--output", output}, arguments...)
		cmd := exec.CommandContext(ctx, binary, args...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		began := time.Now()
		if err := cmd.Start(); err != nil {
			return Build{}, err
		}
		watch := watchMemory(cmd.Process.Pid, filepath.Join(filepath.Dir(output), ".*.build", "*"))
		err := cmd.Wait()
		b := Build{Took: time.Since(began), Processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
		b.Anonymous, b.Scratch = watch.stop()
		if err != nil {
			return b, fmt.Errorf("%s: %w: %s", cmd, err, out.Bytes())
		}
		return b, b.sizes(extract, output)
	}
}

func (b *Build) sizes(extract, output string) error {
	for path, size := range map[string]*int64{extract: &b.Extract, output: &b.Region} {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		*size = info.Size()
	}
	return nil
}

// memoryWatch looks every few milliseconds at how much memory a process takes, and how much room its files.
type memoryWatch struct {
	memory, files int64
	end, ended    chan struct{}
}

const watchInterval = 10 * time.Millisecond

func watchMemory(pid int, files string) *memoryWatch {
	w := &memoryWatch{end: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		ticker := time.NewTicker(watchInterval)
		defer ticker.Stop()
		for {
			w.memory = max(w.memory, compiler.UsedMemoryOf(pid))
			w.files = max(w.files, sizeOf(files))
			select {
			case <-w.end:
				return
			case <-ticker.C:
			}
		}
	}()
	return w
}

// sizeOf is how much room the files of a pattern take, but the region file itself.
func sizeOf(pattern string) (sum int64) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return 0
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && filepath.Base(name) != "region" {
			sum += info.Size()
		}
	}
	return sum
}

// stop is the most that was seen.
func (w *memoryWatch) stop() (memory, files int64) {
	close(w.end)
	<-w.ended
	return w.memory, w.files
}
