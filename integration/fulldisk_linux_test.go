package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"golang.org/x/sys/unix"
)

// noRoom is less than a page takes in the log of changes.
const noRoom = 4 << 10

// limitFiles bounds how large the files may become that a server writes, which to its store is a disk without room.
func (s *server) limitFiles(t *testing.T, size uint64) {
	t.Helper()
	limit := unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.Fatal(err)
	}
}

// health asks for the health of a server.
func (s *server) health(t *testing.T) (h struct {
	Status, Store string
	Reasons       []string
}) {
	t.Helper()
	answer := s.send(t, call{path: "/healthz"}).want(200).body
	if err := json.Unmarshal(answer, &h); err != nil {
		t.Fatal(err)
	}
	return h
}

// A store whose disk is full says so, before anybody meets it and while it lasts; what only reads goes on; and
// when there is room, all goes on by itself, with everything that was acknowledged.
func TestFullDisk(t *testing.T) {
	leaveOut(t, "waits until a store tries again")
	t.Parallel()
	s := newServer(t)
	s.piped = true
	s.run(t)
	user := s.userToken(t, "full")
	type issued struct {
		account serviceAccount
		access  string
	}
	var kept []issued
	add := func() {
		one := s.create(t, user, nil)
		access, _ := s.exchange(t, one.ClientToken, one.ServerToken)
		kept = append(kept, issued{one, access})
	}
	for range 30 {
		add()
	}
	backups := t.TempDir()
	backup := asJSON(t, map[string]string{"output": backups + "/copy.db"})
	s.sendAdmin(t, call{method: "POST", path: "/maps/backup", contentType: jsonType, body: backup}).want(200)
	before, err := os.ReadFile(backups + "/copy.db")
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Stat(s.store + "-wal") // which changes are added to
	if err != nil {
		t.Fatal(err)
	}
	s.limitFiles(t, uint64(log.Size()))
	fill := strings.Repeat("x", 500)
	began := time.Now()
	var full bool
	for !full && time.Since(began) < time.Minute {
		a := s.send(t, createCall(t, user, fill))
		switch a.status {
		case 201:
			var made accountBody
			a.into(&made)
			secret(made.Data.ClientToken)
			secret(made.Data.ServerToken)
			kept = append(kept, issued{account: made.Data})
		case 503:
			full = true
			if string(a.body) != `{"error":"service unavailable"}`+"\n" {
				t.Errorf("503 with %s", a.body)
			}
		default:
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	if !full {
		t.Fatal("the store never was full")
	}
	// Once the log's pages are in the file it has room again, as do pages that are free in the file.
	s.limitFiles(t, noRoom)
	s.send(t, createCall(t, user, fill)).want(503)
	s.waitHealth(t, "degraded")
	h := s.health(t)
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if h = s.health(t); h.Status != "degraded" { // the store tries twice a second
			t.Fatalf("there is no room, and health is %+v", h)
		}
	}
	if h.Store != "degraded" || fmt.Sprint(h.Reasons) != "[the store cannot write]" {
		t.Errorf("health %+v", h)
	}
	var admin struct{ Reasons []string }
	s.sendAdmin(t, call{path: "/maps/status"}).want(200).into(&admin)
	if len(admin.Reasons) != 1 {
		t.Errorf("/maps/status has the reasons %q", admin.Reasons)
	}
	first := kept[0].account
	for range 20 {
		s.send(t, createCall(t, user, fill)).want(503)
		s.send(t, exchangeCall(first.ClientToken, first.ServerToken)).want(503)
		s.send(t, call{path: reverse + place, bearer: kept[0].access}).want(200)
		s.send(t, call{path: accounts + "/" + first.ID, bearer: user}).want(200)
	}
	s.sendAdmin(t, call{method: "POST", path: "/maps/backup", contentType: jsonType, body: backup}).want(400)
	if after, err := os.ReadFile(backups + "/copy.db"); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the earlier backup has changed, error %v", err)
	}
	if list, err := os.ReadDir(backups); err != nil || len(list) != 1 {
		t.Errorf("there are %d files beside the backup, error %v", len(list)-1, err)
	}
	metrics := s.scrape(t)
	gauge := metrics["caddy_maps_store_faults"]
	if len(gauge.GetMetric()) != 2 || gauged(gauge, "cannot_write") != 1 || gauged(gauge, "damaged") != 0 {
		t.Errorf("the metrics say %v", gauge)
	}
	if n := counted(metrics, "caddy_maps_store_write_failures_total"); n < 41 {
		t.Errorf("%v failed changes were counted, want 41 and more", n)
	}
	written, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Count(string(written), "the store cannot write")
	if lines < 1 || lines > 1+int(time.Since(began)/time.Minute) {
		t.Errorf("the log has %d lines about it, want one a minute", lines)
	}

	s.limitFiles(t, unix.RLIM_INFINITY)
	s.waitHealth(t, "ok")
	add()
	if gauge := s.scrape(t)["caddy_maps_store_faults"]; gauged(gauge, "cannot_write") != 0 {
		t.Errorf("there is room again, and the metrics say %v", gauge)
	}
	if err := s.kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	for _, one := range kept {
		s.send(t, call{path: accounts + "/" + one.account.ID, bearer: user}).want(200)
		if one.access != "" {
			s.send(t, call{path: reverse + place, bearer: one.access}).want(200)
		}
	}
}

// A server does not start on a full disk, and says why. It does when there is room.
func TestStartOnFullDisk(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.piped = true
	s.run(t)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.fileLimit = noRoom
	if err := s.start(); err == nil || !strings.Contains(err.Error(), "if its disk is full, make room") {
		t.Errorf("on a full disk: %v", err)
	}
	s.exited, s.fileLimit = nil, 0
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	s.create(t, s.userToken(t, "room"), nil)
}

// A map that does not fit on the disk leaves the earlier one, and nothing beside it.
func TestBuildOnFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	output := dir + "/delaware.region"
	before, err := os.ReadFile(region)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(output, before, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newServer(t)
	s.fileLimit = noRoom
	cmd := s.command(t.Context(), "maps", "build", extract, "--output", output)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err == nil || !strings.Contains(said.String(), "file too large") {
		t.Errorf("error %v: %s", err, said.String())
	}
	if after, err := os.ReadFile(output); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the earlier map has changed, error %v", err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("there are %d files beside the map, error %v", len(list)-1, err)
	}
}

// createCall is what create sends.
func createCall(t *testing.T, userToken string, description string) call {
	return call{method: "POST", path: accounts, bearer: userToken, contentType: jsonType, body: asJSON(t, map[string]any{
		"platform": "WEB", "scopes": []string{"REVERSEGEOCODING"}, "description": description,
	})}
}

// gauged returns the value of a gauge with one label.
func gauged(family *dto.MetricFamily, label string) float64 {
	for _, m := range family.GetMetric() {
		if m.GetLabel()[0].GetValue() == label {
			return m.GetGauge().GetValue()
		}
	}
	return -1
}

// waitHealth waits for a status, for longer than the pause between two attempts of the store.
func (s *server) waitHealth(t *testing.T, want string) {
	t.Helper()
	var status string
	for deadline := time.Now().Add(75 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if status = s.health(t).Status; status == want {
			return
		}
	}
	t.Fatalf("health is %q, want %q", status, want)
}
