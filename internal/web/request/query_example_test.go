package request_test

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// A token is taken out of a query, whose other parameters stay as they were written.
func ExampleRemoveParameter() {
	fmt.Println(request.RemoveParameter("lat=39.16&apiKey=secret&lon=%2D75.52", "apiKey"))
	// Output:
	// lat=39.16&lon=%2D75.52
}
