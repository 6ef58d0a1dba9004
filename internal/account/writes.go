package account

import "context"

// OnFailedChange sets the function that hears of every change that the store did not make: because it could not,
// not because its caller refused or gave up. It may be called from many goroutines at once and must not block. Set
// it before any other call.
func (l *Live) OnFailedChange(failed func(error)) { l.failed = failed }

// note looks at how a change ended.
func (l *Live) note(ctx context.Context, err error) {
	if l.failed != nil && IsUnavailable(err) && ctx.Err() == nil {
		l.failed(err)
	}
}

// RotateGrant implements Store.
func (l *Live) RotateGrant(ctx context.Context, id string, old, next Hash) error {
	err := l.Store.RotateGrant(ctx, id, old, next)
	l.note(ctx, err)
	return err
}

// ReplaceKey implements Store.
func (l *Live) ReplaceKey(ctx context.Context, k Key) error {
	err := l.Store.ReplaceKey(ctx, k)
	l.note(ctx, err)
	return err
}

// AddFirstKey implements Store.
func (l *Live) AddFirstKey(ctx context.Context, k Key) (Key, error) {
	stands, err := l.Store.AddFirstKey(ctx, k)
	l.note(ctx, err)
	return stands, err
}
