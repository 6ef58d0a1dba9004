package geocoding

import (
	"net/http"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
)

// regional is implemented by geocoders that answer from regions of this server.
type regional interface {
	// Sources returns the regions in the order of precedence.
	Sources() []*regions.Region
}

// serveCoverage lists the regions of all geocoders, each once. If one cannot be read, the response is an error: a list
// without it would say that there is no data.
func (h *Handler) serveCoverage(w http.ResponseWriter) {
	var list []answer.Region
	for _, g := range h.geocoders {
		local, ok := g.(regional)
		if !ok {
			continue
		}
		for _, source := range local.Sources() {
			if slices.ContainsFunc(list, func(r answer.Region) bool { return r.Name == source.Name() }) {
				continue
			}
			described, err := source.Describe()
			if err != nil {
				h.fail(w, err)
				return
			}
			list = append(list, answer.Region(described))
		}
	}
	buf := answer.GetBuffer()
	defer buf.Free()
	buf.Bytes = answer.AppendCoverage(buf.Bytes, list)
	answer.Write(w, answer.JSON, buf.Bytes)
}
