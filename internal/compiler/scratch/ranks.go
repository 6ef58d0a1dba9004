package scratch

import (
	"errors"
	"math/bits"
	"sync/atomic"
)

// Ranks number the members of a set of numbers from 0 on, in their order.
type Ranks struct {
	words  *Array[uint64] // a bit for each number
	before *Array[uint64] // how many members come before each word
}

// NewRanks makes an empty set.
func NewRanks(d *Dir, name string) *Ranks {
	return &Ranks{NewArray[uint64](d, name+"-set"), NewArray[uint64](d, name+"-ranks")}
}

// Init prepares for numbers below a limit.
func (r *Ranks) Init(limit int) error {
	_, err := r.words.Extend(limit/64 + 1)
	return err
}

// Add adds a number. Any number of goroutines may call it.
func (r *Ranks) Add(number uint64) {
	if word, bit := &r.words.Slice()[number/64], uint64(1)<<(number%64); atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// Finish counts, and returns how many members there are. The others may be called from then on.
func (r *Ranks) Finish() (n int, err error) {
	before, err := r.before.Extend(r.words.Len())
	if err != nil {
		return 0, err
	}
	for i, word := range r.words.Slice() {
		before[i] = uint64(n)
		n += bits.OnesCount64(word)
	}
	return n, nil
}

// Of returns the rank of a number; false if it is no member.
func (r *Ranks) Of(number uint64) (rank uint64, ok bool) {
	word, bit := r.words.Slice()[number/64], uint64(1)<<(number%64)
	return r.before.Slice()[number/64] + uint64(bits.OnesCount64(word&(bit-1))), word&bit != 0
}

// Members yields the members with the numbers of the words from one to before another, in order, each with its rank.
func (r *Ranks) Members(from, to int, yield func(rank, number uint64)) {
	if from == to {
		return
	}
	words, rank := r.words.Slice(), r.before.Slice()[from]
	for i := from; i < to; i++ {
		for word := words[i]; word != 0; word &= word - 1 {
			yield(rank, uint64(i*64+bits.TrailingZeros64(word)))
			rank++
		}
	}
}

// Words is how many words there are.
func (r *Ranks) Words() int { return r.words.Len() }

// Free removes the files.
func (r *Ranks) Free() error { return errors.Join(r.words.Free(), r.before.Free()) }
