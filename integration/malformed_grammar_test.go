package integration

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// wireRequest is a request before it is written: a valid one, until mutations have been at it.
type wireRequest struct {
	method, path, version string
	params                []string // name=value, encoded
	header                []string // lines, without their end
	body                  string
	chunks                bool   // the body in chunks, without a Content-Length
	length                string // of the body, where it is not what is true
	end                   string // of a line
	before                string // sent before the request line
	cut                   int    // how many bytes of the whole are left out at its end
}

// text is what is sent. whole says that it is a request to its end, which the server need not wait for.
func (r *wireRequest) text() (text string, whole bool) {
	whole = r.cut == 0 && r.length == "" && r.end == "\r\n"
	var b strings.Builder
	target := r.path
	if len(r.params) > 0 {
		target += "?" + strings.Join(r.params, "&")
	}
	b.WriteString(r.before + r.method + " " + target + " " + r.version + r.end)
	for _, line := range r.header {
		b.WriteString(line + r.end)
		if strings.HasPrefix(line, "Content-Length") || strings.HasPrefix(line, "Transfer-Encoding") {
			whole = false // it may announce what does not come
		}
	}
	switch {
	case r.chunks:
		b.WriteString("Transfer-Encoding: chunked" + r.end + r.end)
		for rest := r.body; rest != ""; {
			n := min(len(rest), 1000)
			fmt.Fprintf(&b, "%x\r\n%s\r\n", n, rest[:n])
			rest = rest[n:]
		}
		b.WriteString("0\r\n\r\n")
	case r.length != "":
		b.WriteString("Content-Length: " + r.length + r.end + r.end + r.body)
	case r.body != "":
		fmt.Fprintf(&b, "Content-Length: %d%s%s%s", len(r.body), r.end, r.end, r.body)
	default:
		b.WriteString(r.end)
	}
	text = b.String()
	return text[:max(0, len(text)-r.cut)], whole
}

// tokensOf are the credentials that requests are made with.
type tokensOf struct {
	user, access, tiles, client, server, refresh string
	accounts                                     []string // ids that requests may change
}

// valid are the requests that mutations begin with: each endpoint of the example, by each of its methods and body
// formats.
func valid(random *rand.Rand, tokens *tokensOf) *wireRequest {
	bearer := func(token string) string { return "Authorization: Bearer " + token }
	id := tokens.accounts[random.IntN(len(tokens.accounts))]
	const jsonLine = "Content-Type: application/json"
	position := []string{fmt.Sprintf("lat=%.4f", 38.5+1.3*random.Float64()),
		fmt.Sprintf("lon=%.4f", -75.7+0.6*random.Float64())}
	apiKey := "apiKey=" + tokens.access
	trace := url.QueryEscape("[" + strings.Join(points("{%v,%v}"), ",") + "]")
	gpx := `<?xml version="1.0"?><gpx version="1.1"><trk><trkseg>` +
		strings.Join(points(`<trkpt lat="%v" lon="%v"><time>2026-05-01T10:00:00Z</time></trkpt>`), "") +
		`</trkseg></trk></gpx>`
	geo := `{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[` +
		strings.Join(points("[%[2]v,%[1]v]"), ",") + `]}}`
	object := `{"path":[` + strings.Join(points(`{"lat":%v,"lng":%v,"accuracy":5}`), ",") + `],"radius":10,"details":true}`
	all := []wireRequest{
		{method: "POST", path: external + "/auth", header: []string{jsonLine},
			body: `{"client_token":"` + tokens.client + `","server_token":"` + tokens.server + `"}`},
		{method: "POST", path: external + "/refresh", header: []string{jsonLine},
			body: `{"refresh_token":"` + tokens.refresh + `"}`},
		{method: "POST", path: external + "/revoke", header: []string{jsonLine}, body: `{"refresh_token":"mpr_x"}`},
		{method: "GET", path: external + "/jwks.json"},
		{method: "GET", path: accounts, params: []string{"limit=2", "status=ACTIVE", "cursor="},
			header: []string{bearer(tokens.user)}},
		{method: "POST", path: accounts, header: []string{bearer(tokens.user), jsonLine},
			body: `{"platform":"WEB","scopes":["TILE"],"description":"x","status":"SUSPENDED","isAdmin":false}`},
		{method: "GET", path: accounts + "/" + id, header: []string{bearer(tokens.user)}},
		{method: "PATCH", path: accounts + "/" + id, header: []string{bearer(tokens.user), jsonLine},
			body: `{"platform":"IOS","scopes":["TILE","ONM"],"description":"y","status":"ACTIVE"}`},
		{method: "DELETE", path: accounts + "/sa_none", header: []string{bearer(tokens.user)}},
		{method: "GET", path: reverse, params: append(position, "size=3", "category=shop,amenity", "language=de", apiKey)},
		{method: "GET", path: reverse, params: position, header: []string{bearer(tokens.access),
			"Accept-Language: de,en;q=0.5"}},
		{method: "GET", path: match, params: []string{"path=" + trace, "radius=10", "details=true", "format=geojson",
			apiKey}},
		{method: "GET", path: match, params: []string{"path=" + trace}, header: []string{bearer(tokens.access)}},
		{method: "POST", path: match, params: []string{apiKey}, header: []string{jsonLine}, body: object},
		{method: "POST", path: match, params: []string{"radius=5", apiKey},
			header: []string{"Content-Type: application/gpx+xml"}, body: gpx},
		{method: "POST", path: match, header: []string{bearer(tokens.access), "Content-Type: application/geo+json"},
			body: geo},
		{method: "GET", path: route, params: []string{"origin=39.1,-75.5", "destination=39.2,-75.6"},
			header: []string{bearer(tokens.access)}},
		{method: "GET", path: "/healthz"},
		{method: "GET", path: "/nothing"},
	}
	r := all[random.IntN(len(all))]
	r.version, r.end = "HTTP/1.1", "\r\n"
	r.header = append([]string{"Host: maps.example.com"}, r.header...)
	return &r
}

func points(format string) (all []string) {
	for _, p := range dover {
		all = append(all, fmt.Sprintf(format, p[0], p[1]))
	}
	return all
}

// odd are values that have broken parsers before.
var odd = []string{
	"", " ", "null", "true", "0", "-0", "-1", "1e999", "1e-999", "NaN", "Infinity", "0x10", "1_0", "1.", ".5", "+5",
	"9223372036854775808",
	strings.Repeat("9", 400), "1" + strings.Repeat("0", 5000), "a\x00b", "\xff\xfe", "\u2028", "é", "😀", "%", "%zz", "%00",
	"%ff", "%2e%2e%2f", "%252f",
	"[]", "{}", "[{}]", "[{1,2}]", "[{1,2},{3,4}", "[{,},{,}]", "[{91,1},{1,181}]", "[{1,2,3},{4,5,6}]",
	`[{"lat":1,"lng":2},{"lat":1}]`, "[[1,2],[3,4]]",
	"{{1,2},{3,4}}", `"`, `\`, "'", "' OR 1=1 --", "<script>", "../../etc/passwd", "{env.HOME}", "{http.request.uri}",
	"${jndi:ldap://x}", "\r\n", "%0d%0aX: y",
	"ACTIVE", "REVOKED", "WEB", "de-DE-x-private", "*;q=0.0001", strings.Repeat("a,", 3000), strings.Repeat("[", 3000),
	strings.Repeat("é", 2000), "sa_", "mpc_", "mps_x",
}

// bodies are whole bodies of the same kind.
var bodies = []string{
	"", "{", "}", "[]", "null", `"x"`, "{}{}", "{}\n{}", `{"a":1,"a":2}`, "\xef\xbb\xbf{}", "{\"a\":\"\xff\"}",
	`{"a":1e99999}`, `{"\u0000":1}`, `{"a":"\ud800"}`,
	strings.Repeat("[", 20000), strings.Repeat(`{"a":`, 5000), `{"path":` + strings.Repeat("[", 9000),
	`{"path":[{"lat":1,"lng":2}]}`, `{"path":[[1,2],[3,4]],"radius":-1}`,
	`{"path":[{"lat":91,"lng":2},{"lat":1,"lng":181}]}`,
	`{"path":[{"lat":1,"lng":2,"time":"never"},{"lat":1,"lng":2,"time":-1}]}`, strings.Repeat(" ", 17<<10) + "{}",
	"<gpx/>", "<gpx><trk><trkseg><trkpt lat='x' lon='1'/></trkseg></trk></gpx>",
	"<gpx><trk><trkseg><trkpt/></trkseg></trk>", "<a><b></a></b>", "<gpx " + strings.Repeat(`a="" `, 3000) + "/>",
	`<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><gpx>&d;</gpx>`, `<?xml version="1.0" encoding="UTF-16"?><gpx/>`,
	"<gpx>" + strings.Repeat("<a>", 9000), "<![CDATA[" + strings.Repeat("x", 9000),
	`{"type":"LineString","coordinates":[]}`, `{"type":"LineString","coordinates":[[1,2],[3]]}`,
	`{"type":"LineString","coordinates":[[1,2,3,4],[1e999,2]]}`, `{"type":"Point","coordinates":[1,2]}`,
	`{"type":"Feature","geometry":null}`,
	`{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]},"properties":{"coordTimes":["x"]}}`,
	`{"type":"FeatureCollection","features":[]}`,
	"client_token=a&server_token=b", "\x1f\x8b\x08", "PK\x03\x04", "\x00\x00\x00\x00", strings.Repeat("\xff", 3000),
}

var (
	methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get",
		"M-SEARCH", "G\tET", "", "\x01", "GÉT",
		strings.Repeat("M", 32), strings.Repeat("M", 33), strings.Repeat("M", 4000)}
	versions = []string{"HTTP/1.0", "HTTP/1.1", "HTTP/1.2", "HTTP/0.9", "HTTP/2.0", "HTTP/3.0", "HTTP/11", "http/1.1",
		"HTTP/1.1 ", "", "FTP/1.1", "HTTP/1.999999999999"}
	medias = []string{"application/json", "application/json; charset=utf-8", "application/json; charset=utf-16",
		"application/gpx+xml", "application/geo+json", "text/csv", "text/plain",
		"application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary=x", "", "/",
		"application/", "application/json;", "application/json; charset", "é/é", strings.Repeat("a", 9000)}
	headers = []string{
		"Authorization: Bearer", "Authorization: Bearer ", "Authorization: Bearer x", "Authorization: Basic dTpw",
		"Authorization: ", "Authorization: Bearer a.b.c", "Proxy-Authorization: Bearer x",
		"Authorization: Bearer " + strings.Repeat("x", 60000), "Authorization: Bearer eyJhbGciOiJub25lIn0.e30.",
		"authorization : Bearer x", "Host: other", "Host:", "Host: a b", "Host: [::1", "Host: é",
		"Content-Encoding: gzip", "Content-Encoding: br", "Transfer-Encoding: chunked", "Transfer-Encoding: gzip",
		"Transfer-Encoding: chunked, identity", "Transfer-Encoding: \vchunked",
		"Content-Length: 5", "Content-Length: -1", "Content-Length: +5", "Content-Length: 0x5",
		"Content-Length: 99999999999999999999", "Content-Length: 5, 5", "Content-Length: ",
		"Expect: 100-continue", "Expect: 200-ok", "Connection: close", "Connection: upgrade\r\nUpgrade: websocket",
		"Connection: Authorization", "Connection: upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: x",
		"Range: bytes=0-1", "If-None-Match: *", "If-Modified-Since: yesterday", "Accept: image/png", "Accept-Encoding: *;q=0",
		"Accept-Encoding: gzip;q=x", "Cookie: a=b; a=\xff",
		"X-HTTP-Method-Override: DELETE", "X-Forwarded-For: 1.2.3.4, ::1, x", "X-Forwarded-Proto: javascript",
		"X-Forwarded-Host: é", "Forwarded: for=x", "X-Original-URL: /healthz",
		"Origin: https://app.example.com\r\nAccess-Control-Request-Method: GET", "Origin: null", "Origin: \xff",
		"Access-Control-Request-Headers: " + strings.Repeat("x,", 3000),
		"Trailer: Authorization", "TE: trailers", "X_Under: score", "X.Dot: 1", " Folded: 1", "NoColon", ": novalue",
		"Space Name: 1", "X-Nul: a\x00b", "X-Cr: a\rb", "X-Del: \x7f", "X-Obs: \xe9",
		"X-Huge: " + strings.Repeat("h", 100<<10), "Referer: http://x/?apiKey=1#apiKey=2",
		"User-Agent: " + strings.Repeat(`"\`, 5000), "traceparent: 00-x", "Max-Forwards: 0",
		"Via: " + strings.Repeat("1.1 x,", 900),
	}
	ends = []string{"\n", "\r", "\r\r\n", "\n\r", " \r\n"}
)

func pick(random *rand.Rand, from []string) string { return from[random.IntN(len(from))] }

// mutate changes one thing about a request.
func mutate(random *rand.Rand, r *wireRequest, tokens *tokensOf) {
	anyToken := func() string {
		return pick(random, []string{tokens.user, tokens.access, tokens.tiles, tokens.client, tokens.server, tokens.refresh,
			"", "x", tokens.access[:len(tokens.access)-3] + "AAA"})
	}
	switch random.IntN(20) {
	case 0, 1:
		r.method = pick(random, methods)
	case 2, 3:
		r.path = mutatePath(random, r.path)
	case 4, 5, 6, 7:
		mutateParams(random, r, anyToken())
	case 8, 9, 10:
		line := pick(random, headers)
		if random.IntN(4) == 0 {
			line = "Content-Type: " + pick(random, medias)
		}
		r.header = append(r.header, line)
	case 11:
		if len(r.header) > 0 {
			at := random.IntN(len(r.header))
			r.header = slices.Delete(slices.Clone(r.header), at, at+1)
		}
	case 12:
		for i, line := range r.header {
			if strings.HasPrefix(line, "Authorization:") {
				r.header = slices.Clone(r.header)
				r.header[i] = "Authorization: Bearer " + anyToken()
			}
		}
	case 13, 14, 15:
		mutateBody(random, r)
	case 16:
		r.chunks = !r.chunks
	case 17:
		switch random.IntN(4) {
		case 0:
			r.version = pick(random, versions)
		case 1:
			r.end = pick(random, ends)
		case 2:
			r.before = pick(random, []string{"\r\n", "\n\n", " ", "\x00", "\x16\x03\x01\x02\x00", "\xff\xff"})
		case 3:
			r.cut = 1 + random.IntN(60)
		}
	case 18:
		r.length = pick(random, []string{"0", "1", "5", "100", "00000010", "20000", "9000000"})
	case 19:
		for range 1 + random.IntN(3) {
			r.params = append(r.params, strings.Repeat("z=1&", random.IntN(3000)))
		}
	}
}

func mutatePath(random *rand.Rand, path string) string {
	at := random.IntN(len(path) + 1)
	insert := pick(random, []string{"/", "//", "/.", "/..", "%2f", "%00", "%2e%2e", "%zz", "%", "\\", ";x", "é", "\xff",
		"%ff", "?", "#", " ", "*", "{", strings.Repeat("/a", 2000)})
	switch random.IntN(6) {
	case 0:
		return strings.ToUpper(path)
	case 1:
		return "http://" + pick(random, []string{"x", "", "[", "user:pw@x", "x:99999", "é"}) + path
	case 2:
		return pick(random, []string{"*", "", "healthz", "/", "//", "x:443", "http:", "/" + strings.Repeat("x", 60000)})
	case 3:
		if at < len(path) {
			return path[:at] + fmt.Sprintf("%%%02x", path[at]) + path[at+1:]
		}
	}
	return path[:at] + insert + path[at:]
}

func mutateParams(random *rand.Rand, r *wireRequest, token string) {
	r.params = slices.Clone(r.params)
	if len(r.params) == 0 {
		r.params = append(r.params, pick(random, []string{"lat", "limit", "path", "x", "apiKey"})+"="+pick(random, odd))
		return
	}
	at := random.IntN(len(r.params))
	name, value, _ := strings.Cut(r.params[at], "=")
	switch random.IntN(8) {
	case 0:
		r.params = slices.Delete(r.params, at, at+1)
	case 1:
		r.params = append(r.params, r.params[at])
	case 2:
		if strings.Contains(strings.ToLower(name), "apikey") { // under another name it is nothing that a log should hide
			r.params[at] = pick(random, []string{"APIKEY", "api%4bey", "apikey", "xapiKey"}) + "=" + value
			return
		}
		r.params[at] = pick(random, []string{strings.ToUpper(name), name + "%00", "%6" + name, name + "[]", ""}) + "=" + value
	case 3:
		r.params[at] = name
	case 4:
		r.params[at] = "apiKey=" + token
	case 5:
		r.params[at] = name + "=" + pick(random, odd) // raw, which may end the URL
	default:
		r.params[at] = name + "=" + url.QueryEscape(pick(random, odd))
	}
}

func mutateBody(random *rand.Rand, r *wireRequest) {
	body := []byte(r.body)
	switch random.IntN(7) {
	case 0:
		if r.body = pick(random, bodies); random.IntN(20) == 0 && r.body != "" {
			r.body = strings.Repeat(r.body, 1+random.IntN(9<<20)/len(r.body)) // up to more than the largest that is taken
		}
		return
	case 1:
		body = body[:random.IntN(len(body)+1)]
	case 2:
		for range 1 + random.IntN(4) {
			if len(body) > 0 {
				body[random.IntN(len(body))] ^= 1 << random.IntN(8)
			}
		}
	case 3:
		at := random.IntN(len(body) + 1)
		body = slices.Insert(body, at, []byte(pick(random, odd))...)
	case 4:
		body = append(body, body...)
	case 5:
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(body)
		_ = w.Close()
		body = packed.Bytes()
		r.header = append(r.header, "Content-Encoding: gzip")
	case 6: // a value for a value
		from := bytes.IndexByte(body, ':')
		if to := bytes.IndexByte(body, ','); from >= 0 && to > from {
			body = slices.Concat(body[:from+1], []byte(pick(random, odd)), body[to:])
		}
	}
	r.body = string(body)
}
