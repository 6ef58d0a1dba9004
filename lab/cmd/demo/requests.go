package main

import (
	"fmt"
	"io"
)

// drive was made from the street's own course through the middle of Dover, with some metres of error added.
const drive = "[{39.15727,-75.52930},{39.15738,-75.52808},{39.15769,-75.52686},{39.15779,-75.52568}," +
	"{39.15803,-75.52462}]"

// printRequests prints the addresses of the pages, which work at once, and one request for each part of the service,
// each complete in itself.
func printRequests(w io.Writer, s settings, c credentials) {
	show := func(title, format string, args ...any) {
		fmt.Fprintf(w, "\n# %s\n%s\n", title, fmt.Sprintf(format, args...))
	}
	for _, page := range [...]struct{ what, path string }{
		{"The map: click it for an address, drop a drive on it:", "/playground/"},
		{"The console, signed in for a day:", "/console/#token=" + c.UserToken},
		{"The reference of the API:", "/docs/"},
	} {
		fmt.Fprintf(w, "\n%s\n%s%s\n", page.what, c.BaseURL, page.path)
	}
	fmt.Fprintf(w, "\nThe server answers on %s. Tokens are in %s, the server's log in %s/server.log.\n",
		c.BaseURL, s.credentials, s.dir)
	show("What is at a position (the Capitol in Dover)",
		`curl -s -H 'Authorization: Bearer %s' '%s/v2/search/reverse-geocoding?lat=39.1573&lon=-75.5197&size=3'`,
		c.AccessToken, c.BaseURL)
	show("Which regions that is known of, how new their data is, and whom to name",
		`curl -s -H 'Authorization: Bearer %s' '%s/v2/search/coverage'`, c.AccessToken, c.BaseURL)
	show("The drive behind a recorded trace",
		`curl -sG -H 'Authorization: Bearer %s' --data-urlencode 'path=%s' --data-urlencode 'radius=10' `+
			`'%s/api/route/matching/'`,
		c.AccessToken, drive, c.BaseURL)
	show("The organization's service accounts",
		`curl -s -H 'Authorization: Bearer %s' '%s/api/v1/service-accounts'`,
		c.UserToken, c.BaseURL)
	show("A new access token, when this one has expired (15 minutes)",
		`curl -s -H 'Content-Type: application/json' -d '{"refresh_token":"%s"}' '%s/api/v1/external/refresh'`,
		c.RefreshToken, c.BaseURL)
	fmt.Fprintf(w, "\nServing until interrupted (Ctrl-C).\n")
}
