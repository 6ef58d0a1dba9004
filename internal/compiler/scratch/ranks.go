package scratch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
)

// Ranks is a set of numbers, whose members it numbers in ascending order from 0 on (a rank/select bitmap). First come
// Init and Add, then Finish, then all other methods.
type Ranks struct {
	words  *Array[uint64] // a bit for each number
	before *Array[uint32] // the number of members before each word
}

// NewRanks makes an empty set.
func NewRanks(d *Dir, name string) *Ranks {
	return &Ranks{NewArray[uint64](d, name), NewArray[uint32](d, name+"-ranks")}
}

// Init prepares the set for numbers below a limit.
func (r *Ranks) Init(limit int) error {
	_, err := r.words.Extend(limit/64 + 1)
	return err
}

// Add adds a number. It is safe for concurrent use.
func (r *Ranks) Add(number uint64) {
	if word, bit := &r.words.Slice()[number/64], uint64(1)<<(number%64); atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// Finish counts the members and returns their number.
func (r *Ranks) Finish() (n int, err error) {
	before, err := r.before.Extend(r.words.Len())
	if err != nil {
		return 0, err
	}
	for i, word := range r.words.Slice() {
		before[i] = uint32(n)
		n += bits.OnesCount64(word)
	}
	if n > math.MaxUint32 {
		return 0, fmt.Errorf("there are %d %s: a region can have at most %d", n, r.words.file.name, uint32(math.MaxUint32))
	}
	return n, nil
}

// Of returns the rank of a number, or false if it is not a member.
func (r *Ranks) Of(number uint64) (rank uint32, ok bool) {
	word, bit := r.words.Slice()[number/64], uint64(1)<<(number%64)
	return r.before.Slice()[number/64] + uint32(bits.OnesCount64(word&(bit-1))), word&bit != 0
}

// Each calls do with each member and its rank, on all cores.
func (r *Ranks) Each(ctx context.Context, do func(rank uint32, number uint64)) error {
	words, before := r.words.Slice(), r.before.Slice()
	const some = 1 << 12
	return pipeline.Ranges(ctx, len(words), some, func(from, to int) (struct{}, error) {
		for i := from; i < to; i++ {
			rank := before[i]
			for word := words[i]; word != 0; word &= word - 1 {
				do(rank, uint64(i*64+bits.TrailingZeros64(word)))
				rank++
			}
		}
		return struct{}{}, nil
	}, func(struct{}) error { return nil })
}

// Free removes the files.
func (r *Ranks) Free() error { return errors.Join(r.words.Free(), r.before.Free()) }
