package auth_test

import (
	_ "github.com/mapsedge/caddy-maps/modules/accounts"
	_ "github.com/mapsedge/caddy-maps/modules/adminapi"
	_ "github.com/mapsedge/caddy-maps/modules/auth"
	_ "github.com/mapsedge/caddy-maps/modules/tokens"
)

const accountsSite = `
	handle /api/v1/external/* {
		maps_tokens
	}
	@accounts path /api/v1/service-accounts /api/v1/service-accounts/*
	handle @accounts {
		maps_accounts
	}
`
