package main

import (
	"fmt"
	"io"
)

// drive was made from the street's own course through the middle of Dover, with some metres of error added.
const drive = "[{39.15727,-75.52930},{39.15738,-75.52808},{39.15769,-75.52686},{39.15779,-75.52568}," +
	"{39.15803,-75.52462}]"

// printRequests prints requests to paste, which work for as long as the demo runs because the first one gets an access
// token, and then the addresses of the pages.
func printRequests(w io.Writer, s settings, c credentials) {
	show := func(title, format string, args ...any) {
		fmt.Fprintf(w, "\n# %s\n%s\n", title, fmt.Sprintf(format, args...))
	}
	show("An access token of 15 minutes for the two tokens of an account, which are in "+s.credentials,
		`TOKEN=$(curl -s %s/api/v1/external/auth -H 'Content-Type: application/json' \
	-d '{"client_token":"%s","server_token":"%s"}' | sed 's/.*"accessToken":"\([^"]*\).*/\1/')`,
		c.BaseURL, c.ClientToken, c.ServerToken)
	show("What a text may mean, also while it is being typed",
		`curl -s -H "Authorization: Bearer $TOKEN" '%s/v2/search/geocode?query=loockerman+st+dov&limit=3'`, c.BaseURL)
	show("What is at a position (the Capitol in Dover)",
		`curl -s -H "Authorization: Bearer $TOKEN" '%s/v2/search/reverse-geocoding?lat=39.1573&lon=-75.5197&size=3'`,
		c.BaseURL)
	show("The drive behind a recorded trace",
		`curl -sG -H "Authorization: Bearer $TOKEN" --data-urlencode 'path=%s' --data-urlencode 'radius=10' `+
			`'%s/api/route/matching/'`, drive, c.BaseURL)
	show("The regions, how new their data is, and whom to name",
		`curl -s -H "Authorization: Bearer $TOKEN" '%s/v2/search/coverage'`, c.BaseURL)
	show("A link to the console, signed in for an hour",
		`%s maps user-token --organization %s --console --address %s`, s.server(), organization, s.admin)
	fmt.Fprintf(w, `
start page  %s/
map         %[1]s/playground/
reference   %[1]s/docs/

Serving until interrupted (Ctrl-C).
`, c.BaseURL)
}
