package bolt

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/store/boltfile"
)

var day = time.Unix(1_800_000_000, 0).UTC()

func anAccount(n int) account.Account {
	status := account.StatusActive
	if n%3 == 1 {
		status = account.StatusSuspended
	}
	return account.Account{ID: fmt.Sprintf("sa_%05d", n), OrganizationID: fmt.Sprint("org-", n%3),
		Platform:    account.PlatformWeb,
		Description: fmt.Sprint("account ", n), Scopes: account.Scopes{account.ScopeTile}, Status: status,
		CreatedBy:  "user:1",
		ClientHint: "0000", ServerHint: "1111", CreatedAt: day, UpdatedAt: day, ClientHash: hashOf("c", fmt.Sprint(n)),
		ServerHash: hashOf("s", fmt.Sprint(n)), Version: 1}
}

func aGrant(n int) account.Grant {
	return account.Grant{ID: fmt.Sprintf("gr_%05d", n), RefreshHash: hashOf("r", fmt.Sprint(n)),
		ClientAccount: fmt.Sprintf("sa_%05d", n%7), ServerAccount: fmt.Sprintf("sa_%05d", n%5), Organization: "org-0",
		Scopes: account.ScopeTile.Set(), CreatedAt: day.Add(time.Duration(n) * time.Second), ExpiresAt: day.Add(time.Hour)}
}

func aKey(n int) account.Key {
	return account.Key{ID: fmt.Sprint("key", n), Use: account.KeyAccess, Algorithm: fmt.Sprint("ALG", n),
		Private: []byte("not a key"), CreatedAt: day}
}

// damageable is a store with some of everything, in pages of several levels.
type damageable struct {
	accounts, grants, keys int
	usage                  bool
}

// make makes such a store: the content of its file, and what it answers.
func (d damageable) make(t *testing.T) (content []byte, answers map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "good.db")
	d.fill(t, path)
	s := open(t, path)
	answers = d.ask(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content, answers
}

func (d damageable) fill(t *testing.T, path string) {
	t.Helper()
	s := open(t, path)
	for part := range 10 { // some commits, so that there are free pages with what was there before
		if err := s.write(t.Context(), func(tx *writeTx) error {
			for n := part; n < d.accounts; n += 10 {
				a := anAccount(n)
				if err := createAccount(tx, &a); err != nil {
					return err
				}
			}
			for n := part; n < d.grants; n += 10 {
				g := aGrant(n)
				if _, err := addGrant(tx, &g, 1000); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for n := 0; n < d.grants; n += 4 {
		if n%100 != 0 && n > 50 {
			continue // a commit each
		}
		if err := s.RotateGrant(t.Context(), aGrant(n).ID, aGrant(n).RefreshHash, hashOf("r2", fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	for n := range d.keys {
		if _, err := s.AddFirstKey(t.Context(), aKey(n)); err != nil {
			t.Fatal(err)
		}
	}
	if d.usage {
		d.use(t, s)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// ask asks for everything, and returns each answer by its question.
func (d damageable) ask(s *Store) map[string]string {
	ctx := context.Background()
	answers := map[string]string{}
	put := func(err error, answer any, question string, args ...any) {
		text := fmt.Sprintf("%+v", answer)
		switch {
		case account.IsUnavailable(err):
			text = "unavailable"
		case err != nil:
			text = err.Error()
		}
		answers[fmt.Sprintf(question, args...)] = text
	}
	for n := range d.accounts + 3 {
		want := anAccount(n)
		a, err := s.Account(ctx, want.ID)
		put(err, a, "account %d", n)
		a, err = s.AccountByToken(ctx, account.ClientToken, want.ClientHash)
		put(err, a.ID, "client token %d", n)
		a, err = s.AccountByToken(ctx, account.ServerToken, want.ServerHash)
		put(err, a.ID, "server token %d", n)
	}
	for n := range d.grants + 3 {
		g, err := s.Grant(ctx, aGrant(n).ID)
		put(err, g, "grant %d", n)
		g, err = s.GrantByRefresh(ctx, aGrant(n).RefreshHash)
		put(err, g.ID, "refresh token %d", n)
		g, err = s.GrantByRefresh(ctx, hashOf("r2", fmt.Sprint(n)))
		put(err, g.ID, "next refresh token %d", n)
	}
	for org := range 3 {
		for _, status := range []account.Status{"", account.StatusActive, account.StatusSuspended} {
			after := ""
			for page := 0; ; page++ {
				list, err := s.Accounts(ctx, fmt.Sprint("org-", org), account.Page{Limit: 50, After: after, Status: status})
				put(err, list, "accounts of %d, status %q, page %d", org, status, page)
				if err != nil || len(list) == 0 {
					break
				}
				after = list[len(list)-1].ID
			}
		}
	}
	keys, err := s.Keys(ctx)
	put(err, keys, "keys")
	d.askUsage(s, put)
	return answers
}

// harm is a way to damage a page.
type harm struct {
	name string
	do   func(r *rand.Rand, page []byte, whole []byte)
}

func harms() []harm {
	return []harm{
		{"a bit", func(r *rand.Rand, page, _ []byte) { page[r.IntN(len(page))] ^= 1 << r.IntN(8) }},
		{"a bit of its head", func(r *rand.Rand, page, _ []byte) { page[r.IntN(16)] ^= 1 << r.IntN(8) }},
		{"a bit of its first entries", func(r *rand.Rand, page, _ []byte) { page[16+r.IntN(200)] ^= 1 << r.IntN(8) }},
		{"zeros", func(_ *rand.Rand, page, _ []byte) { clear(page) }},
		{"all but its head zeros", func(_ *rand.Rand, page, _ []byte) { clear(page[10:]) }},
		{"no entries", func(_ *rand.Rand, page, _ []byte) { clear(page[10:12]) }},
		{"fewer entries", func(r *rand.Rand, page, _ []byte) {
			if n := binary.NativeEndian.Uint16(page[10:]); n > 1 {
				binary.NativeEndian.PutUint16(page[10:], uint16(r.IntN(int(n))))
			}
		}},
		{"noise", func(r *rand.Rand, page, _ []byte) {
			for i := range page {
				page[i] = byte(r.Uint32())
			}
		}},
		{"noise in half of it", func(r *rand.Rand, page, _ []byte) {
			for i := len(page) / 2; i < len(page); i++ {
				page[i] = byte(r.Uint32())
			}
		}},
		{"another page", func(r *rand.Rand, page, whole []byte) {
			copy(page, whole[r.IntN(len(whole)/len(page))*len(page):])
		}},
		{"another page that says it is this one", func(r *rand.Rand, page, whole []byte) {
			id := binary.NativeEndian.Uint64(page)
			copy(page, whole[r.IntN(len(whole)/len(page))*len(page):])
			binary.NativeEndian.PutUint64(page, id)
		}},
		{"itself below", func(_ *rand.Rand, page, _ []byte) { // where it is a branch, the first entry leads back to it
			if page[8] == 1 {
				copy(page[24:32], page[:8])
			}
		}},
		{"a branch to itself", func(_ *rand.Rand, page, _ []byte) {
			page[8] = 1
			for i := 24; i < len(page)/2; i += 16 {
				copy(page[i:i+8], page[:8])
			}
		}},
	}
}

const pageSize = 4096

// manyDamaged is the number of rounds in the environment; without it, there is a short one.
const manyDamaged = "MAPS_TEST_STORE_DAMAGE"

// rounds is how often each page is damaged in each way.
func rounds(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv(manyDamaged))
	if err != nil {
		return 1
	}
	t.Logf("%d rounds", n)
	return n
}

// TestDamagedAtOpening damages each page of a store in each way. Either the store is not opened, for a reason in
// one line, or it answers as if nothing had been.
func TestDamagedAtOpening(t *testing.T) {
	d := damageable{accounts: 60, grants: 90, keys: 3, usage: true}
	content, want := d.make(t)
	checkDamaged(t, content, d, want)
}

func checkDamaged(t *testing.T, content []byte, d damageable, want map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "accounts.db")
	r := rand.New(rand.NewPCG(1, 2))
	refused, opened := 0, 0
	for range rounds(t) {
		for page := range len(content) / pageSize {
			for i, harm := range harms() {
				if os.Getenv(manyDamaged) == "" && page > 1 && (page+i)%4 != 0 {
					continue
				}
				changed := bytes.Clone(content)
				harm.do(r, changed[page*pageSize:(page+1)*pageSize], content)
				if err := os.WriteFile(path, changed, 0o600); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				s, err := Open(path, nil)
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("page %d, %s: opening took %v", page, harm.name, took)
				}
				if err != nil {
					refused++
					if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, path) ||
						!strings.Contains(text, "restore a backup") &&
							!strings.Contains(text, "use the version that wrote it") {
						t.Errorf("page %d, %s: error %q", page, harm.name, text)
					}
					if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, changed) {
						t.Errorf("page %d, %s: the file was changed", page, harm.name)
					}
					continue
				}
				opened++
				if got := d.ask(s); !maps.Equal(got, want) {
					t.Errorf("page %d, %s: opened, with other answers:%s", page, harm.name, someOf(got, want))
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	t.Logf("refused %d, opened %d with all that was there", refused, opened)
	if refused < opened/10 || refused == 0 {
		t.Errorf("of %d damaged files only %d were refused; the test sees too little", refused+opened, refused)
	}
}

// someOf returns some of the questions that were answered otherwise.
func someOf(got, want map[string]string) string {
	text, n := "", 0
	for question, answer := range want {
		if got[question] != answer && n < 3 {
			n++
			text += fmt.Sprintf("\n%s: %.100s, want %.100s", question, got[question], answer)
		}
	}
	return text
}

func readGzip(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// formerly is what the files of formats of before in testdata hold. Versions wrote them that knew no other.
var formerly = damageable{accounts: 40, grants: 60, keys: 3}

// TestUpgrade opens a file of each format of before: everything is there, and checksums with it.
func TestUpgrade(t *testing.T) {
	for before := range uint64(format - 1) {
		t.Run(fmt.Sprint("format ", before+1), func(t *testing.T) { testUpgrade(t, before+1) })
	}
}

func testUpgrade(t *testing.T, before uint64) {
	content := readGzip(t, fmt.Sprintf("testdata/format%d.db.gz", before))
	path := filepath.Join(t.TempDir(), "accounts.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(path, 10)
	if err != nil || len(r.Faults) > 0 || r.Format != before ||
		r.Counts != (account.Counts{Accounts: 40, Grants: 60, Keys: 3}) {
		t.Fatalf("before: %+v, error %v", r, err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
		t.Fatal("looking at the file changed it")
	}
	s := open(t, path)
	upgraded := formerly.ask(s)
	for question, answer := range upgraded {
		if answer == "unavailable" {
			t.Errorf("%s: unavailable", question)
		}
	}
	if a, err := s.Account(t.Context(), "sa_00039"); err != nil || a.Description != "account 39" {
		t.Errorf("an account: %+v, error %v", a, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err = Verify(path, 10)
	if err != nil || len(r.Faults) > 0 || r.Format != format ||
		r.Counts != (account.Counts{Accounts: 40, Grants: 60, Keys: 3}) {
		t.Fatalf("after: %+v, error %v", r, err)
	}
	same := filepath.Join(t.TempDir(), "same.db")
	formerly.fill(t, same)
	if want := formerly.ask(open(t, same)); len(want) != len(upgraded) {
		t.Errorf("%d answers, want %d", len(upgraded), len(want))
	}
}

// TestRootOfBefore damages a file as a disk does that loses the write of a page at the top of the tree: there still is
// the one of the change before, and all that it leads to.
func TestRootOfBefore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "accounts.db")
	damageable{accounts: 60, grants: 90, keys: 1}.fill(t, path)
	lost := 0
	for n := range 5 {
		s := open(t, path)
		if _, err := s.AddFirstKey(t.Context(), aKey(n+1)); err != nil { // a change of the top page alone
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		newest := content[:pageSize]
		const rootAt, txidAt = 16 + 16, 16 + 48 // in a head
		if other := content[pageSize : 2*pageSize]; binary.NativeEndian.Uint64(other[txidAt:]) >
			binary.NativeEndian.Uint64(newest[txidAt:]) {
			newest = other
		}
		root := binary.NativeEndian.Uint64(newest[rootAt:])
		tops := []uint64{root}
		top, err := boltfile.Mapped(content, pageSize, root).Page(root)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; !top.Leaf() && i < top.Len(); i++ {
			tops = append(tops, top.Child(i))
		}
		damagedFile := filepath.Join(dir, fmt.Sprintf("damaged-%d.db", n))
		for page := uint64(2); page < uint64(len(content)/pageSize); page++ {
			for _, to := range tops {
				changed := bytes.Clone(content)
				copy(changed[to*pageSize:(to+1)*pageSize], content[page*pageSize:])
				binary.NativeEndian.PutUint64(changed[to*pageSize:], to)
				if bytes.Equal(changed, content) {
					continue // itself, or a page of before that leads to where this one does
				}
				if err := os.WriteFile(damagedFile, changed, 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := Open(damagedFile, nil); err == nil {
					t.Fatalf("page %d in the place of %d: opened", page, to)
				} else if strings.Contains(err.Error(), "an earlier change than its last one") {
					lost++
				}
			}
		}
	}
	if lost == 0 {
		t.Error("no earlier state was met that is whole")
	}
}
