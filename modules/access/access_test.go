package access_test

import (
	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
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
