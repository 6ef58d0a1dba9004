package main

//go:generate mkdir -p maps admin
//go:generate go tool oapi-codegen -config maps.yaml ../../docs/openapi.yaml
//go:generate go tool oapi-codegen -config admin.yaml ../../docs/openapi-admin.yaml
