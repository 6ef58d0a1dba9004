package routing

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// profiles reads names of profiles. Without any it returns all.
func profiles(names []string) (all []routing.Profile, err error) {
	for _, name := range names {
		p, err := matching.ParseProfile(name)
		if err != nil {
			return nil, options.Wrap("profile", err)
		}
		if slices.Contains(all, 1<<p) {
			return nil, options.Errorf("profile", "%s is listed twice", name)
		}
		all = append(all, 1<<p)
	}
	if len(all) == 0 {
		for _, p := range matching.Profiles() {
			all = append(all, 1<<p)
		}
	}
	return all, nil
}

func profileName(p routing.Profile) string {
	for _, of := range matching.Profiles() {
		if p == 1<<of {
			return of.String()
		}
	}
	return ""
}

// profile finds a profile on offer.
func (h *Handler) profile(name string) (routing.Profile, error) {
	var names []string
	for _, p := range h.offer {
		if profileName(p) == name {
			return p, nil
		}
		names = append(names, profileName(p))
	}
	return 0, invalid("profile: must be " + text.OrList(names))
}

// routersFor returns the routers that answer for a profile.
func (h *Handler) routersFor(p routing.Profile) (all []routing.Router) {
	for _, r := range h.routers {
		if some, ok := r.(routing.Answering); !ok || some.Routes(p) {
			all = append(all, r)
		}
	}
	return all
}
