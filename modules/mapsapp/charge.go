package mapsapp

import "net/http"

// charger is the response of a request that counts for an account: what maps_auth wraps it in.
type charger interface {
	Charge(units int64) error
}

// Charge sets the units that a request counts for, instead of 1, before the work is done. w is the response as the
// handler that does it got it. Where nothing is counted nothing happens; where a quota does not allow so many units the
// error is an apierror.Error, and the request has to be answered with it.
func Charge(w http.ResponseWriter, units int64) error {
	for {
		if c, ok := w.(charger); ok {
			return c.Charge(units)
		}
		wrapper, wraps := w.(interface{ Unwrap() http.ResponseWriter })
		if !wraps {
			return nil
		}
		w = wrapper.Unwrap()
	}
}
