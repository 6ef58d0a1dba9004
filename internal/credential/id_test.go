package credential

import (
	"testing"
	"time"
)

func TestIsAccountID(t *testing.T) {
	id := NewAccountID(time.Now())
	if !IsAccountID(id) {
		t.Errorf("%s is none", id)
	}
	for _, text := range []string{"", "sa_", id[:len(id)-1], id + "x", id[3:], "gr_" + id[3:],
		id[:10] + "-" + id[11:], id[:24] + "é",
	} {
		if IsAccountID(text) {
			t.Errorf("%q is one", text)
		}
	}
}
