package access

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Accounts)) }

// Accounts serves `/api/v1/service-accounts`, where holders of user tokens manage the service accounts of their
// organization, with their publishable keys, and see their usage.
type Accounts struct {
	// The path of the collection, as this handler sees it: `/` behind a `handle_path` that strips all of it. Other
	// paths are 404. Default: `/api/v1/service-accounts`.
	Prefix string `json:"prefix,omitempty"`

	// Whether access tokens of accounts with `isAdmin` may manage their organization's accounts too. They cannot make
	// or change administrators, grant scopes that they lack, or undo what a user did. Default: true.
	AdminAccessTokens *bool `json:"admin_access_tokens,omitempty"`

	app    *app.App
	logger *zap.Logger
	prefix request.Prefix
}

const defaultAccountsPrefix = "/api/v1/service-accounts"

// CaddyModule returns the Caddy module information.
func (*Accounts) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_accounts", New: func() caddy.Module { return new(Accounts) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (a *Accounts) UnmarshalJSON(data []byte) error { return options.Decode(data, a) }

// Provision finds the app.
func (a *Accounts) Provision(ctx caddy.Context) (err error) {
	a.logger = ctx.Logger()
	if a.prefix, err = app.Prefix(ctx, "prefix", cmp.Or(a.Prefix, defaultAccountsPrefix)); err != nil {
		return err
	}
	a.app, err = app.Get(ctx)
	return err
}

func (a *Accounts) acceptsAccessTokens() bool {
	return a.AdminAccessTokens == nil || *a.AdminAccessTokens
}

// maxIDLength is the longest text that is looked up as an id.
const maxIDLength = 64

var errNoAccount = apierror.NotFound("service account not found")

// call is an authenticated request.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	session *app.Session
	caller  caller
	id      string // of the account in the path; empty for the collection
	key     string // id of the publishable key in the path; empty for all
}

type method func(a *Accounts, c *call) error

var (
	collectionMethods = map[string]method{
		http.MethodGet: (*Accounts).list, http.MethodHead: (*Accounts).list, http.MethodPost: (*Accounts).create,
	}
	accountMethods = map[string]method{
		http.MethodGet: (*Accounts).get, http.MethodHead: (*Accounts).get,
		http.MethodPatch: (*Accounts).update, http.MethodDelete: (*Accounts).remove,
	}
	usageMethods    = map[string]method{http.MethodGet: (*Accounts).usage, http.MethodHead: (*Accounts).usage}
	collectionAllow = []string{http.MethodGet, http.MethodHead, http.MethodPost}
	accountAllow    = []string{http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodDelete}
	usageAllow      = []string{http.MethodGet, http.MethodHead}

	keysMethods = map[string]method{
		http.MethodGet: (*Accounts).keys, http.MethodHead: (*Accounts).keys, http.MethodPost: (*Accounts).createKey,
	}
	keyMethods = map[string]method{http.MethodDelete: (*Accounts).removeKey}
	keyAllow   = []string{http.MethodDelete}
)

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (a *Accounts) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	w.Header().Set("Cache-Control", "no-store")
	if err := a.serve(w, r); err != nil {
		apierror.Platform.Write(w, a.answerFor(r, err))
	}
	return nil
}

func (a *Accounts) serve(w http.ResponseWriter, r *http.Request) error {
	rest, ok := a.prefix.Below(r.URL)
	id, below, nested := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	key, isKeys := strings.CutPrefix(below+"/", keysPath+"/")
	key = strings.TrimSuffix(key, "/")
	methods, allow := accountMethods, accountAllow
	switch {
	case !ok, nested && (id == "" || id == usagePath || !isKeys || strings.Contains(key, "/")):
		return apierror.NotFound("not found")
	case id == "":
		methods, allow = collectionMethods, collectionAllow
	case id == usagePath:
		methods, allow = usageMethods, usageAllow
	case nested && key == "":
		methods, allow = keysMethods, collectionAllow
	case nested:
		methods, allow = keyMethods, keyAllow
	}
	serve, known := methods[r.Method]
	if !known {
		return apierror.MethodNotAllowed(allow...)
	}
	session, err := a.app.Session(r.Context())
	if err != nil {
		return err
	}
	defer session.Release()
	who, err := a.authenticate(r, session)
	if err != nil {
		return err
	}
	if len(id) > maxIDLength {
		return errNoAccount
	}
	return serve(a, &call{w: w, r: r, session: session, caller: who, id: id, key: key})
}

// refused is a response with a reason that is only for the log.
type refused struct {
	answer apierror.Error
	reason app.Reason
}

func (r refused) Error() string { return r.reason.String() }

// answerFor returns the client's response to an error. The true reason goes to the log.
func (a *Accounts) answerFor(r *http.Request, err error) apierror.Error {
	var answer apierror.Error
	var why refused
	switch {
	case errors.As(err, &why):
		answer = why.answer
	case errors.As(err, &answer):
		return answer
	case errors.Is(err, credential.ErrInvalid):
		answer = unauthorized(err)
	case errors.Is(err, account.ErrNotFound):
		return errNoAccount
	default:
		answer = apierror.Unavailable()
	}
	reason := why.reason
	if reason == (app.Reason{}) {
		reason = app.ReasonFor(err)
	}
	a.app.Metrics().Refused(app.AccountsHandler, reason)
	if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Add(zap.String("reason", err.Error()))
	}
	if c := a.logger.Check(zap.DebugLevel, "request refused"); c != nil {
		c.Write(
			zap.String("reason", err.Error()),
			zap.Int("status", answer.Status),
			zap.String("remote_ip", app.RemoteIP(r)))
	}
	return answer
}

// body is an answer's JSON.
type body struct {
	Data any `json:"data"`
}

// get answers with one account.
func (a *Accounts) get(c *call) error {
	acc, err := c.session.Store.Account(c.r.Context(), c.id)
	if err != nil {
		return err
	}
	if acc.OrganizationID != c.caller.organization {
		return errNoAccount
	}
	request.WriteJSON(c.w, http.StatusOK, body{acc})
	return nil
}

// remove deletes an account of any status.
func (a *Accounts) remove(c *call) error {
	gone, err := c.session.Store.DeleteAccount(c.r.Context(), c.id, func(acc account.Account) error {
		if acc.OrganizationID != c.caller.organization {
			return errNoAccount
		}
		return c.caller.mayChange(&acc)
	})
	if err != nil {
		return err
	}
	a.record(c, gone, "deleted", nil)
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *Accounts) record(c *call, acc account.Account, kind string, changed []string) {
	a.app.Record(app.Change{
		Kind: kind, Account: acc, Actor: c.caller.actor, Changed: changed, RemoteIP: app.RemoteIP(c.r),
	})
}

// now is the store's time with the precision of accounts: UTC, in milliseconds.
func (c *call) now() time.Time { return c.session.Store.Now().UTC().Truncate(time.Millisecond) }

// Interface guards
var (
	_ caddy.Provisioner           = (*Accounts)(nil)
	_ caddyhttp.MiddlewareHandler = (*Accounts)(nil)
)
