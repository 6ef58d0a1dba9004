#!/bin/sh
# Prints an access token: creates a service account with the scopes that are named, and exchanges its tokens as a backend does.
#
#	access-token.sh <site> <scope>...
#
# To be run on the server, whose admin endpoint creates the account. Needs curl and jq.
set -eu
site=$1
shift
scopes=$(printf '%s,' "$@")
caddy maps accounts create --organization acme --scopes "${scopes%,}" --json |
	jq '{client_token: .clientToken, server_token: .serverToken}' |
	curl -sS --fail-with-body "$site/api/v1/external/auth" -H 'Content-Type: application/json' -d @- | jq -r .data.accessToken
