package localmatcher

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Long traces wait for each other; short ones and those whose client goes away do not.
func TestAdmit(t *testing.T) {
	var releases []func()
	for range cap(longTraces) {
		release, err := admit(t.Context(), longTrace)
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	release, err := admit(t.Context(), longTrace-1)
	if err != nil {
		t.Fatal(err)
	}
	release()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := admit(ctx, longTrace); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more long trace: %v", err)
	}
	for _, release := range releases {
		release()
	}
	if release, err = admit(t.Context(), longTrace); err != nil {
		t.Fatal(err)
	}
	release()
}
