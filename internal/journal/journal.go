package journal

import (
	"context"

	"mediagen/internal/fault"
)

// Journal is an open journal file. It is safe for concurrent use.
type Journal struct{}

func Open(ctx context.Context, path string, o Options) (*Journal, error) {
	return nil, fault.New(fault.JournalBroken, "journal %s cannot be opened by this build", path)
}
func (j *Journal) Close() error                                            { return nil }
func (j *Journal) Create(ctx context.Context, job *Job) error              { return nil }
func (j *Journal) Update(ctx context.Context, id string, u Update) error   { return nil }
func (j *Journal) Get(ctx context.Context, idOrPrefix string) (Job, error) { return Job{}, nil }
func (j *Journal) List(ctx context.Context, f Filter) ([]Job, error)       { return nil, nil }
func (j *Journal) FindByRequestKey(ctx context.Context, key string, states ...State) ([]Job, error) {
	return nil, nil
}
func (j *Journal) Spooled(ctx context.Context) ([]Job, error)                { return nil, nil }
func (j *Journal) Forget(ctx context.Context, ids ...string) (int, error)    { return 0, nil }
func (j *Journal) ForgetAny(ctx context.Context, ids ...string) (int, error) { return 0, nil }
func Owner() (pid int, bootID string)                                        { return 0, "" }
func Orphaned(j Job) bool                                                    { return false }
