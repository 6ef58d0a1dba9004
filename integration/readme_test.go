package integration

import (
	"os/exec"
	"strings"
	"testing"
)

// pasteReadmeCurl runs the requests that README.md has for `make demo`, on one that keeps its files in dir.
func pasteReadmeCurl(t *testing.T, dir, port string) {
	t.Helper()
	var requests string
	for _, block := range readBlocks(t, "README.md", "sh") {
		if strings.Contains(block.Text, ".demo/credentials.json") {
			requests += block.Text
		}
	}
	if requests == "" {
		t.Fatal("README.md shows no request for make demo")
	}
	shown := readBlocks(t, "README.md", "text")[0].Text
	if _, err := exec.LookPath("jq"); err != nil {
		t.Log("README.md's requests are not tried: there is no jq")
		return
	}
	script := strings.ReplaceAll(requests, "127.0.0.1:8080", "127.0.0.1:"+port)
	script = strings.ReplaceAll(script, ".demo/", dir+"/")
	answer, err := exec.Command("sh", "-c", script).Output()
	if err != nil || string(answer) != shown {
		t.Errorf("%v: README.md shows\n%s\nand the answer is\n%s", err, shown, answer)
	}
}
