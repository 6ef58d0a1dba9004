package bolt

import (
	"bytes"
	"encoding/binary"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// Keys of usage sort as it is listed: by start, account and scope, where the step and the organization are given. What
// is folded is kept by step and organization first. Hours that are not folded yet begin with their start, since they
// are folded in that order, as do minutes, which are removed so.

// place is where usage stands: all of its key but the step and the organization.
type place struct {
	start   int64
	account string
	scope   account.Scope
}

// The bytes that end an account's name in a key, and what stands in it for the first of them, so that names sort as
// they do by themselves. behindNobody sorts behind the empty name and before all others.
var (
	accountEnd   = []byte{0, 1}
	accountZero  = []byte{0, 0xFF}
	behindNobody = []byte{0, 2}
)

func appendStart(key []byte, start int64) []byte {
	return binary.BigEndian.AppendUint64(key, uint64(start)^1<<63)
}

func appendAccount(key []byte, name string) []byte {
	for i := range len(name) {
		if name[i] == accountZero[0] {
			key = append(key, accountZero...)
		} else {
			key = append(key, name[i])
		}
	}
	return append(key, accountEnd...)
}

// spanPrefix begins the keys of one organization's usage in one hour, or minute.
func spanPrefix(start int64, organization string) []byte {
	return appendPart(appendStart(make([]byte, 0, 96), start), organization)
}

// keptSteps are the steps in which usage is kept for long, by the first byte of their keys.
var keptSteps = [...]account.Step{account.StepHour, account.StepDay, account.StepMonth}

func keptStep(step account.Step) []byte {
	for i, one := range keptSteps {
		if one == step {
			return append(make([]byte, 0, 96), byte(i+1))
		}
	}
	return []byte{0} // of which nothing is kept
}

// keptPrefix begins the keys of one organization's usage by a step.
func keptPrefix(step account.Step, organization string) []byte {
	return appendPart(keptStep(step), organization)
}

// appendWho appends the end of a key.
func appendWho(key []byte, name string, scope account.Scope) []byte {
	return append(appendAccount(key, name), scope...)
}

func keptKey(step account.Step, start int64, s usage.Subject, scope account.Scope) []byte {
	return appendWho(appendStart(keptPrefix(step, s.Organization), start), s.Account, scope)
}

// keyReader takes a key apart. After the first fault it gives zero values, and bad tells.
type keyReader struct {
	rest []byte
	bad  bool
}

func (r *keyReader) start() int64 {
	if len(r.rest) < 8 {
		r.rest, r.bad = nil, true
		return 0
	}
	v := binary.BigEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return int64(v ^ 1<<63)
}

func (r *keyReader) part() string {
	length, n := binary.Uvarint(r.rest)
	if n <= 0 || length > uint64(len(r.rest)-n) {
		r.rest, r.bad = nil, true
		return ""
	}
	v := string(r.rest[n : n+int(length)])
	r.rest = r.rest[n+int(length):]
	return v
}

func (r *keyReader) account() string {
	var name []byte
	for {
		i := bytes.IndexByte(r.rest, accountEnd[0])
		if i < 0 || i+1 == len(r.rest) {
			r.rest, r.bad = nil, true
			return ""
		}
		next := r.rest[i+1]
		name, r.rest = append(name, r.rest[:i]...), r.rest[i+2:]
		switch next {
		case accountEnd[1]:
			return string(name)
		case accountZero[1]:
			name = append(name, 0)
		default:
			r.rest, r.bad = nil, true
			return ""
		}
	}
}

// who reads the end of a key.
func (r *keyReader) who(p *place) error {
	p.account, p.scope = r.account(), account.Scope(r.rest)
	if r.bad {
		return errRecord
	}
	return nil
}

// checkPlace makes sure that the key of a record of usage can be read.
func checkPlace(key []byte, kept bool) error {
	r := keyReader{rest: key}
	if kept && len(key) > 0 {
		r.rest = key[1:]
		r.part()
		r.start()
	} else {
		r.start()
		r.part()
	}
	return r.who(new(place))
}
