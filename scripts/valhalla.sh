#!/usr/bin/env bash
# How exact Valhalla's map matching is on the drives that `make eval` simulates, through `matcher valhalla`:
#
#	scripts/valhalla.sh [EXTRACT.osm.pbf [FLAGS OF EVAL…]]
#
# Without an extract it is Delaware's. It takes valhalla_build_config, valhalla_build_tiles and valhalla_service from
# PATH, or else docker and Valhalla's image. VALHALLA_IMAGE is another image, VALHALLA_PORT and MAPS_PORT are other
# ports on loopback.
set -euo pipefail
image=${VALHALLA_IMAGE:-ghcr.io/valhalla/valhalla:3.5.1}
engine_port=${VALHALLA_PORT:-18002}
# shellcheck source=scripts/engine.sh
source "$(dirname "$0")/engine.sh"

find_engine valhalla_build_config valhalla_build_tiles valhalla_service
take_extract "${1:-}"
ip=127.0.0.1 directory=$work
if [[ -n ${in_docker:-} ]]; then ip=0.0.0.0 directory=/data; fi # docker publishes the port only on loopback
mkdir "$work/tiles"
engine valhalla_build_config --mjolnir-tile-dir "$directory/tiles" --httpd-service-listen "tcp://$ip:$engine_port" \
	>"$work/valhalla.json"
engine valhalla_build_tiles -c valhalla.json map.osm.pbf >&2
serve /status valhalla_service valhalla.json 1
compare valhalla "${@:2}"
