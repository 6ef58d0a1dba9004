//go:build !unix

package pgtest

import "errors"

func start() (dsn string, stop func(), err error) {
	return "", nil, errors.New("starting one is not supported on this system")
}
