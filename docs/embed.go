// Package docs holds those parts of the documentation that the program itself shows.
package docs

import _ "embed" // for the directive below

// OpenAPI is the description of the service's API, in YAML.
//
//go:embed openapi.yaml
var OpenAPI []byte
