package integration

import (
	"os/exec"
	"strings"
	"testing"
)

// pasteReadmeCurl runs the request that README.md has for `make demo`, on one that keeps its files in dir.
func pasteReadmeCurl(t *testing.T, dir, port string) {
	t.Helper()
	_, request, found := strings.Cut(readBlocks(t, "README.md", "sh")[0].Text, "\nmake demo\n")
	if !found {
		t.Fatal("README.md shows no request for make demo")
	}
	shown := readBlocks(t, "README.md", "text")[0].Text
	if _, err := exec.LookPath("jq"); err != nil {
		t.Log("README.md's request is not tried: there is no jq")
		return
	}
	script := strings.ReplaceAll(request, "127.0.0.1:8080", "127.0.0.1:"+port)
	script = strings.ReplaceAll(script, ".demo/", dir+"/")
	answer, err := exec.Command("sh", "-c", script).Output()
	if err != nil || string(answer) != shown {
		t.Errorf("%v: README.md shows\n%s\nand the answer is\n%s", err, shown, answer)
	}
}
