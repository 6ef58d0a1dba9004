package routing_test
import "testing"
import "github.com/mapsedge/caddy-maps/internal/routing"
import "github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
func TestDebug(t *testing.T) { routing.Debug(t, roadgraphtest.DelawareFile(t), 1) }
