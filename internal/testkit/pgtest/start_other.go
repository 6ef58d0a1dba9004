//go:build !unix

package pgtest

import "errors"

func start() (dsn string, stop func(), err error) {
	return "", nil, errors.New("it is not started by itself on this system")
}
