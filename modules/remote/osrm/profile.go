package osrm

import (
	"regexp"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/options"
)

const defaultProfile = "driving"

// usualProfiles are the names of profiles in OSRM's documentation, its distribution and compatible services.
var usualProfiles = map[string]matching.Profile{
	"driving": matching.Car, "car": matching.Car,
	"cycling": matching.Bicycle, "bicycle": matching.Bicycle, "bike": matching.Bicycle,
	"walking": matching.Foot, "foot": matching.Foot,
}

var profileNames = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// setProfile sets the default and the profile of the requests that the matcher answers.
func (m *Matcher) setProfile() (err error) {
	if m.Profile == "" {
		m.Profile = defaultProfile
	}
	if !profileNames.MatchString(m.Profile) {
		return options.Errorf("profile", "%q is not a name of letters, digits, - and _", m.Profile)
	}
	if m.AnswersFor != "" {
		if m.answersFor, err = matching.ParseProfile(m.AnswersFor); err != nil {
			return options.Wrap("answers_for", err)
		}
		return nil
	}
	usual := false
	if m.answersFor, usual = usualProfiles[m.Profile]; !usual {
		return options.Errorf("profile", "%[1]q does not tell whom it is for: write %[1]s car, bicycle or foot", m.Profile)
	}
	return nil
}

// Answers implements matching.Answering.
func (m *Matcher) Answers(p matching.Profile) bool { return p == m.answersFor }

// unmarshalProfile reads and checks the option `profile`, so that errors have its line.
func (m *Matcher) unmarshalProfile(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) != 1 && len(args) != 2 {
		return options.ErrCount
	}
	m.Profile, m.AnswersFor = args[0], ""
	if len(args) == 2 {
		m.AnswersFor = args[1]
	}
	return (&Matcher{Profile: m.Profile, AnswersFor: m.AnswersFor}).setProfile()
}
