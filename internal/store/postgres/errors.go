package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// dbError is a failure of the database. Its text holds no part of the connection string and no value of a row, so it
// can be logged; what pgx says does hold such things.
type dbError struct {
	text string
	code string // SQLSTATE, or empty
	// lost: the connection broke, or was refused for the moment. The same can be tried again on another one.
	lost bool
	// away: nothing says that the database is there at all.
	away bool
	// unsure: the connection was lost while a change was being committed.
	unsure bool
	// cause is the context's error, if that is what ended the call.
	cause error
}

func (e *dbError) Error() string {
	if e.code != "" {
		return "accounts database: " + e.text + " (SQLSTATE " + e.code + ")"
	}
	return "accounts database: " + e.text
}

func (e *dbError) Unwrap() error { return e.cause }

// Is makes all errors match account.ErrUnchanged but those of which nobody knows.
func (e *dbError) Is(target error) bool { return target == account.ErrUnchanged && !e.unsure }

var (
	errClosed = &dbError{text: "closed"}
	errAway   = &dbError{text: "does not answer", away: true}
)

// asDBError turns an error of pgx into one that may be shown. Those of this package pass.
func asDBError(err error) error {
	var own *dbError
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.As(err, &pg):
		return fromServer(pg)
	case errors.Is(err, puddle.ErrClosedPool):
		return errClosed
	case errors.Is(err, context.Canceled):
		return &dbError{text: "the question was given up", cause: context.Canceled}
	case pgconn.Timeout(err), errors.Is(err, context.DeadlineExceeded):
		return &dbError{text: "did not answer in time", away: true, cause: context.DeadlineExceeded}
	}
	return &dbError{text: networkText(err), lost: true, away: true}
}

// fromServer keeps of a server's error what holds no name or value of the operator's.
func fromServer(pg *pgconn.PgError) error {
	class := pg.Code[:min(2, len(pg.Code))]
	switch {
	case pg.Code == "23505": // unique_violation
		return account.ErrExists
	case class == "28":
		return &dbError{text: "refused the user or the password", code: pg.Code}
	case class == "3D":
		return &dbError{text: "there is no database of this name", code: pg.Code}
	case pg.Code == "40001", pg.Code == "40P01": // serialization_failure, deadlock_detected
		return &dbError{text: "could not decide between changes at the same time", code: pg.Code, lost: true}
	case pg.Code == "57014": // query_canceled, by statement_timeout
		return &dbError{text: "did not finish in time", code: pg.Code}
	case pg.Code == "57P01", pg.Code == "57P02", pg.Code == "25P03": // the connection was ended
		return &dbError{text: pg.Message, code: pg.Code, lost: true}
	case pg.Code == "53300": // too_many_connections: one of those that there are may do
		return &dbError{text: pg.Message, code: pg.Code, lost: true}
	case pg.Code == "57P03", class == "08": // starting, stopping; or a pooler that lost its server
		return &dbError{text: pg.Message, code: pg.Code, lost: true, away: true}
	case class == "25", class == "42", class == "53", class == "54", class == "55", class == "58", class == "XX",
		class == "0A":
		return &dbError{text: pg.Message, code: pg.Code}
	}
	return &dbError{text: "refused", code: pg.Code}
}

func networkText(err error) string {
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused the connection"
	case errors.As(err, &dns):
		return "its host was not found"
	case errors.As(err, &unknown):
		return "its certificate is of an authority that is not trusted"
	case errors.As(err, &name):
		return "its certificate is for another host"
	case errors.As(err, &invalid):
		return "its certificate is not valid"
	case errors.As(err, &record), strings.Contains(err.Error(), "refused TLS"):
		return "refused TLS"
	case errors.Is(err, pgconn.ErrReadOnlyConnection):
		return "can only be read; it may be a replica"
	case errors.Is(err, syscall.ENOENT):
		return "its socket was not found"
	}
	return "the connection broke"
}

// isRefused reports whether a server said no, for the moment.
func isRefused(err error) bool {
	e, ok := errors.AsType[*dbError](err)
	return ok && e.lost && e.code != ""
}

// damaged is a row that this version cannot have written.
func damaged(what string) error { return &dbError{text: fmt.Sprintf("holds a damaged %s", what)} }

// mayRepeat reports whether a call that changed nothing can be made again.
func mayRepeat(err error) bool {
	e, ok := errors.AsType[*dbError](err)
	return ok && e.lost
}

func isAway(err error) bool {
	e, ok := errors.AsType[*dbError](err)
	return ok && e.away
}
