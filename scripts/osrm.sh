#!/usr/bin/env bash
# How exact OSRM's map matching is on the drives that `make eval` simulates, through `matcher osrm`:
#
#	scripts/osrm.sh [EXTRACT.osm.pbf [FLAGS OF EVAL…]]
#
# Without an extract it is Delaware's. It takes osrm-extract, osrm-partition, osrm-customize and osrm-routed from PATH,
# or else docker and OSRM's image. OSRM_IMAGE is another image, OSRM_PROFILE the path of another car.lua, OSRM_PORT and
# MAPS_PORT are other ports on loopback.
set -euo pipefail
image=${OSRM_IMAGE:-ghcr.io/project-osrm/osrm-backend:v6.0.0}
engine_port=${OSRM_PORT:-15000}
# shellcheck source=scripts/engine.sh
source "$(dirname "$0")/engine.sh"

find_engine osrm-extract osrm-partition osrm-customize osrm-routed
take_extract "${1:-}"
profile=${OSRM_PROFILE:-}
if [[ -z $profile && -n ${in_docker:-} ]]; then
	profile=/opt/car.lua
elif [[ -z $profile ]]; then
	for share in /usr/local/share /usr/share; do
		if [[ -r $share/osrm/profiles/car.lua ]]; then profile=$share/osrm/profiles/car.lua; fi
	done
	[[ -n $profile ]] || fail "OSRM's car.lua is not in its usual places: set OSRM_PROFILE"
fi
engine osrm-extract -p "$profile" map.osm.pbf >&2
engine osrm-partition map.osrm >&2
engine osrm-customize map.osrm >&2
ip=127.0.0.1
if [[ -n ${in_docker:-} ]]; then ip=0.0.0.0; fi # the container's own; docker publishes it only on loopback
serve / osrm-routed --algorithm mld --ip "$ip" --port "$engine_port" --max-matching-size 10000 map.osrm
compare osrm "${@:2}"
