# What osrm.sh and valhalla.sh have in common. They set `image` and `engine_port`, and read this file.
# shellcheck shell=bash

: "${image:?}" "${engine_port:?}"
called_in=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

fail() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# Where the engine's files are, for as long as the script runs.
work=$(mktemp -d)
container=caddy-maps-$(basename "$0" .sh)-$$
pids=()
end() {
	if [[ -n ${in_docker:-} ]]; then docker stop -t 2 "$container" >/dev/null 2>&1 || true; fi
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap end EXIT

# The engine's programs are those on PATH, if all are there, or else those of its image.
find_engine() {
	local program missing=()
	for program in "$@"; do command -v "$program" >/dev/null || missing+=("$program"); done
	for program in go make curl; do command -v "$program" >/dev/null || fail "$program is not on PATH"; done
	((${#missing[@]})) || return 0
	if ! command -v docker >/dev/null; then
		fail "neither ${missing[*]} nor docker is on PATH: install the engine, or docker for $image"
	fi
	in_docker=1
}

# Runs a program of the engine in the directory of its files.
engine() {
	if [[ -n ${in_docker:-} ]]; then
		docker run --rm -v "$work:/data" -w /data --user "$(id -u):$(id -g)" "$image" "$@"
	else
		(cd "$work" && "$@")
	fi
}

# Starts the engine's server, and waits until it answers at a path.
serve() {
	local path=$1
	shift
	if [[ -n ${in_docker:-} ]]; then
		docker run --rm --name "$container" -p "127.0.0.1:$engine_port:$engine_port" -v "$work:/data" -w /data "$image" "$@" \
			>"$work/engine.log" 2>&1 &
	else
		(cd "$work" && exec "$@") >"$work/engine.log" 2>&1 &
	fi
	pids+=($!)
	await "http://127.0.0.1:$engine_port$path" $! "$work/engine.log"
}

# Waits until a URL answers with any status, its process ends, or a minute has passed.
await() {
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		curl -s -o /dev/null "$1" && return 0
		kill -0 "$2" 2>/dev/null || break
		sleep 0.2
	done
	tail -n 20 "$3" >&2
	fail "nothing answers at $1"
}

# The extract that is given, or Delaware, becomes map.osm.pbf among the engine's files.
take_extract() {
	extract=${1:-$(go list -m -f '{{.Dir}}' github.com/paulmach/osm)/testdata/delaware-latest.osm.pbf}
	[[ $extract == *.osm.pbf ]] || fail "$extract is not an extract in PBF (*.osm.pbf)"
	[[ $extract == /* ]] || extract=$called_in/$extract
	[[ -r $extract ]] || fail "$extract cannot be read; for Delaware, run go mod download"
	cp "$extract" "$work/map.osm.pbf"
}

# Asks the engine for simulated drives as a client of maps_match would, and prints the table, with ours in its last column.
compare() {
	local matcher=$1 port=${MAPS_PORT:-18080}
	shift
	make -s build
	cat >"$work/Caddyfile" <<-CADDYFILE
		{
			admin off
			persist_config off
			maps {
				store sqlite $work/accounts.db
			}
		}
		http://127.0.0.1:$port {
			maps_match {
				matcher $matcher http://127.0.0.1:$engine_port
				public
			}
		}
	CADDYFILE
	./build/caddy run --config "$work/Caddyfile" >"$work/caddy.log" 2>&1 &
	pids+=($!)
	await "http://127.0.0.1:$port/" $! "$work/caddy.log"
	go -C lab build -o "$work/eval" ./cmd/eval
	"$work/eval" -extract "$work/map.osm.pbf" -service "http://127.0.0.1:$port/api/route/matching/" "$@"
}
