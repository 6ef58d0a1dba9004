// Package testbrowser runs pages in a real browser for tests, and watches what a test of a page has to know: errors
// of its scripts, violations of its content policy, and every request that it sends.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// programs are the names that Chromium has, in the order in which they are looked for.
var programs = [...]string{"chromium", "chromium-browser", "google-chrome", "headless-shell"}

// limit is for how long a test may use the browser in all.
const limit = 3 * time.Minute

// Tab is a page in a browser of its own, without a history, cookies or storage of others. Its methods fail the test.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
	requests []Request
	byID     map[network.RequestID]int // index into requests
}

// Request is one that the page has sent.
type Request struct {
	Method, URL string
	Status      int64 // 0 until the answer has begun
}

// Open starts a browser with a window of so many CSS pixels. Where there is no Chromium the test is skipped. When
// the test ends, it fails if the page had errors in its console or broke its content policy; see Problems.
func Open(t testing.TB, width, height int, more ...chromedp.ExecAllocatorOption) *Tab {
	t.Helper()
	tab := &Tab{t: t, byID: make(map[network.RequestID]int)}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program(t)),
		chromedp.WindowSize(width, height), chromedp.Flag("force-device-scale-factor", "1"),
		// In a container there is little of /dev/shm.
		chromedp.Flag("disable-dev-shm-usage", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root cannot have
	}
	options = append(options, more...)
	ctx, cancelLimit := context.WithTimeout(context.Background(), limit)
	ctx, cancelBrowser := chromedp.NewExecAllocator(ctx, options...)
	tab.ctx, _ = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(tab.ctx) // ends the browser in good order
		cancelBrowser()
		cancelLimit()
		for _, problem := range tab.Problems() {
			t.Errorf("browser: %s", problem)
		}
	})
	chromedp.ListenTarget(tab.ctx, tab.note)
	tab.Run(network.Enable(), log.Enable(), chromedp.EmulateViewport(int64(width), int64(height)))
	return tab
}

func program(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser")
	}
	for _, name := range programs {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	t.Skip("there is no Chromium on this machine: the tests of pages in a browser are left out")
	return ""
}

// note keeps what the browser tells.
func (b *Tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning || e.Type == runtime.APITypeAssert {
			b.problems = append(b.problems, "console: "+describe(e.Args))
		}
	case *log.EventEntryAdded:
		// An answer of 4xx is one, too, with the source network: what comes of it is the page's affair.
		if e.Entry.Level == log.LevelError && e.Entry.Source != log.SourceNetwork {
			b.problems = append(b.problems, string(e.Entry.Source)+": "+e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		b.byID[e.RequestID] = len(b.requests)
		b.requests = append(b.requests, Request{Method: e.Request.Method, URL: e.Request.URL})
	case *network.EventResponseReceived:
		if i, ok := b.byID[e.RequestID]; ok {
			b.requests[i].Status = e.Response.Status
		}
	}
}

func describe(args []*runtime.RemoteObject) string {
	var words []string
	for _, arg := range args {
		words = append(words, strings.TrimSpace(arg.Description+" "+string(arg.Value)))
	}
	return strings.Join(words, " ")
}

// Problems returns errors and warnings of the page so far: exceptions, its console, and violations of its content
// policy. It forgets them, so that a test that provokes one can look at it.
func (b *Tab) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	problems := b.problems
	b.problems = nil
	return problems
}

// Requests returns the requests that the page has sent so far, those of data: and blob: addresses left out.
func (b *Tab) Requests() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Request
	for _, r := range b.requests {
		if !strings.HasPrefix(r.URL, "data:") && !strings.HasPrefix(r.URL, "blob:") {
			list = append(list, r)
		}
	}
	return list
}

// CheckOrigin fails the test if a request went anywhere but to the origin, such as http://127.0.0.1:8080, or one of
// the others.
func (b *Tab) CheckOrigin(origins ...string) {
	b.t.Helper()
	for _, r := range b.Requests() {
		u, err := url.Parse(r.URL)
		known := false
		for _, origin := range origins {
			known = known || err == nil && u.Scheme+"://"+u.Host == origin
		}
		if !known {
			b.t.Errorf("a request left the origin: %s %s", r.Method, r.URL)
		}
	}
}

// CheckStorage fails the test if the page keeps anything in storage or cookies, besides the tokens of the tab.
func (b *Tab) CheckStorage() {
	b.t.Helper()
	const script = `JSON.stringify([Object.keys(localStorage), Object.keys(sessionStorage).filter(
		(key) => !["maps.access", "maps.user"].includes(key)), document.cookie])`
	if kept := Eval[string](b, script); kept != `[[],[],""]` {
		b.t.Errorf("the page keeps %s in localStorage, sessionStorage and cookies", kept)
	}
}

// Run runs actions in the page.
func (b *Tab) Run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatalf("browser: %v; the page's problems: %q", err, b.Problems())
	}
}

// Go opens an address.
func (b *Tab) Go(address string) {
	b.t.Helper()
	b.Run(chromedp.Navigate(address))
}

// Eval returns the value of a JavaScript expression, which may be a promise.
func Eval[T any](b *Tab, script string) T {
	b.t.Helper()
	var value T
	b.Run(chromedp.Evaluate(script, &value, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}))
	return value
}

// Wait waits until a JavaScript expression is true, at most 20 seconds.
func (b *Tab) Wait(what, script string) {
	b.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var done bool
		// An error is no more than "not yet": while the page changes there is nothing to ask.
		if err := chromedp.Run(b.ctx, chromedp.Evaluate("!!("+script+")", &done)); err == nil && done {
			return
		}
	}
	b.t.Fatalf("browser: %s did not come; the page's problems: %q; the page: %s", what, b.Problems(),
		Eval[string](b, `document.body.innerText.slice(0, 2000)`))
}

// Text returns the text of the first element of a selector, as it is shown.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	return Eval[string](b, fmt.Sprintf("document.querySelector(%s)?.innerText ?? ''", quote(selector)))
}

// Click presses the mouse on the first element of a selector.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.Run(chromedp.Click(selector, chromedp.ByQuery, chromedp.NodeVisible))
}

// Type replaces the text of the first element of a selector.
func (b *Tab) Type(selector, text string) {
	b.t.Helper()
	b.Run(chromedp.Focus(selector, chromedp.ByQuery), chromedp.Evaluate("document.activeElement.select()", nil),
		input.InsertText(text))
}

// Press presses keys, such as kb.Tab, on what has the focus.
func (b *Tab) Press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		b.Run(chromedp.KeyEvent(key))
	}
}

// TabTo presses the tabulator until the first element of a selector has the focus, as who has no mouse does.
func (b *Tab) TabTo(selector string) {
	b.t.Helper()
	const most = 200
	script := fmt.Sprintf("document.activeElement === document.querySelector(%s)", quote(selector))
	for range most {
		b.Press(kb.Tab)
		if Eval[bool](b, script) {
			return
		}
	}
	b.t.Fatalf("browser: %s does not get the focus by the tabulator", selector)
}

// Drop drops a file on the first element of a selector.
func (b *Tab) Drop(selector, name, content string) {
	b.t.Helper()
	Eval[bool](b, fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([%s], %s));
		const target = document.querySelector(%s);
		for (const type of ["dragenter", "dragover", "drop"])
			target.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
		return true;
	})()`, quote(content), quote(name), quote(selector)))
}

// Screenshot returns a PNG of what the window shows.
func (b *Tab) Screenshot() []byte {
	b.t.Helper()
	var png []byte
	b.Run(chromedp.CaptureScreenshot(&png))
	return png
}

func quote(text string) string {
	data, _ := json.Marshal(text) // a string: this cannot fail
	return string(data)
}
