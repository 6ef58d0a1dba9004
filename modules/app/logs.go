package app

import (
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Stores and regions outlive the configuration that opened them. Their loggers write to the logs of the active
// configuration, by its rules for the names maps.store and maps.region.
var (
	storeLog  = newActiveLog("maps.store")
	regionLog = newActiveLog("maps.region")
)

// activeLog is a zapcore.Core that passes everything to the core of the active configuration.
type activeLog struct {
	name    string
	core    *atomic.Pointer[zapcore.Core]
	context []zapcore.Field
}

func newActiveLog(name string) *activeLog {
	return &activeLog{name: name, core: new(atomic.Pointer[zapcore.Core])}
}

func (l *activeLog) logger() *zap.Logger { return zap.New(l).Named(l.name) }

// follow makes the logger write to a configuration's logs from now on.
func (l *activeLog) follow(ctx caddy.Context) {
	core := ctx.Logger(namedModule(l.name)).Core()
	l.core.Store(&core)
}

func (l *activeLog) active() zapcore.Core {
	if core := l.core.Load(); core != nil {
		return *core
	}
	return caddy.Log().Core() // before the first configuration has started
}

// Enabled implements zapcore.LevelEnabler.
func (l *activeLog) Enabled(level zapcore.Level) bool { return l.active().Enabled(level) }

// With implements zapcore.Core.
func (l *activeLog) With(fields []zapcore.Field) zapcore.Core {
	return &activeLog{l.name, l.core, append(l.context[:len(l.context):len(l.context)], fields...)}
}

// Check implements zapcore.Core. The cores of the configuration decide.
func (l *activeLog) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return l.active().With(l.context).Check(entry, checked)
}

// Write implements zapcore.Core. It is never called, because Check never adds this core.
func (l *activeLog) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	return l.active().With(l.context).Write(entry, fields)
}

// Sync implements zapcore.Core.
func (l *activeLog) Sync() error { return l.active().Sync() }

// namedModule makes Caddy choose the logs for a logger of this name.
type namedModule string

// CaddyModule implements caddy.Module.
func (n namedModule) CaddyModule() caddy.ModuleInfo { return caddy.ModuleInfo{ID: caddy.ModuleID(n)} }
