#!/bin/sh
# Prints an access token: makes a service account with the scopes that are named, and exchanges its tokens as a backend does.
#
#	access-token.sh <site> <scope>...
#
# To be run on the server, whose admin endpoint it asks for a user token. Needs curl and jq.
set -eu
site=$1
shift
scopes=$(printf '"%s",' "$@")
post() { curl -sS --fail-with-body -H 'Content-Type: application/json' "$@"; }

user_token=$(caddy maps user-token --organization acme)
account=$(post "$site/api/v1/service-accounts" -H "Authorization: Bearer $user_token" \
	-d "{\"platform\":\"WEB\",\"scopes\":[${scopes%,}]}")
post "$site/api/v1/external/auth" \
	-d "$(echo "$account" | jq '{client_token: .data.clientToken, server_token: .data.serverToken}')" | jq -r .data.accessToken
