package matching

import (
	"encoding/json"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// Profiles are names of profiles. In JSON they are a list, or a single string.
type Profiles []string

// UnmarshalJSON implements json.Unmarshaler.
func (p *Profiles) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		*p = Profiles{""}
		return json.Unmarshal(text, &(*p)[0])
	}
	return json.Unmarshal(text, (*[]string)(p))
}

// offer is the profiles of an endpoint, the first of which is the default, and the matchers that support each.
type offer struct {
	profiles []matching.Profile
	matchers [][]matching.Matcher // by index of profiles, in the order of the configuration
	refusal  string               // the error text for other profiles
}

// newOffer reads the names of profiles.
func newOffer(names Profiles) (o offer, err error) {
	for _, name := range names {
		profile, err := matching.ParseProfile(name)
		if err != nil {
			return offer{}, options.Wrap("profile", err)
		}
		if slices.Contains(o.profiles, profile) {
			return offer{}, options.Errorf("profile", "%s is listed twice", name)
		}
		o.profiles = append(o.profiles, profile)
	}
	if len(o.profiles) == 0 {
		o.profiles = []matching.Profile{matching.Car}
	}
	o.refusal = "profile: must be " + o.String()
	return o, nil
}

// String lists the profiles: "car, bicycle or foot".
func (o *offer) String() string {
	names := make([]string, len(o.profiles))
	for i, profile := range o.profiles {
		names[i] = profile.String()
	}
	return text.OrList(names)
}

// find returns the index of a profile.
func (o *offer) find(name string) (int, error) {
	for i, profile := range o.profiles {
		if profile.String() == name {
			return i, nil
		}
	}
	return 0, invalid(o.refusal)
}

// assign finds the matchers that support each profile. The error names a profile without a matcher.
func (o *offer) assign(matchers []matching.Matcher) error {
	o.matchers = make([][]matching.Matcher, len(o.profiles))
	for i, profile := range o.profiles {
		for _, m := range matchers {
			if matching.Answers(m, profile) {
				o.matchers[i] = append(o.matchers[i], m)
			}
		}
		if len(o.matchers[i]) == 0 {
			return options.Errorf("profile", "none of the matchers answers for %s", profile)
		}
	}
	return nil
}
