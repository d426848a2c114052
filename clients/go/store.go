package dither

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A Store keeps a text: the account of a device, or its facts about askers.
type Store interface {
	// Update reads the text, calls change with it (an empty text if it is missing), writes what that returns
	// unless it is empty, and returns when it is on disk. Two calls must not overlap, not even of two processes.
	// If change returns an error, Update returns it and writes nothing.
	Update(ctx context.Context, change func(kept string) (next string, err error)) error
}

// A FileStore is a file that is replaced completely: written next to it, synchronised, and renamed, so that a
// crash leaves the old text or the new one. Processes take turns by a lock on a file next to it. Keep the
// file out of backups: an earlier copy that is put back forgets the answers so far since. A file that is
// empty, cut off or changed is refused (ErrAccount), never started anew.
type FileStore struct {
	path string
	turn sync.Mutex
}

// NewFileStore returns the store of a file. It is created when something is first kept. Its folder must
// exist.
func NewFileStore(path string) *FileStore { return &FileStore{path: path} }

const pause = 2 * time.Millisecond // between two attempts to take a turn

// Update implements Store. It returns ErrBusy if the context ends before it is its turn.
func (f *FileStore) Update(ctx context.Context, change func(kept string) (next string, err error)) error {
	for !f.turn.TryLock() {
		if err := rest(ctx); err != nil {
			return err
		}
	}
	defer f.turn.Unlock()
	lock, err := os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // gives the lock back
	for free := false; !free; {
		if free, err = tryLock(lock); err == nil && !free {
			err = rest(ctx)
		}
		if err != nil {
			return err
		}
	}
	kept, err := f.read()
	if err != nil {
		return err
	}
	next, err := change(kept)
	if err != nil || next == "" {
		return err
	}
	return f.write(next)
}

func rest(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return errors.Join(ErrBusy, ctx.Err())
	case <-time.After(pause):
		return nil
	}
}

func (f *FileStore) read() (string, error) {
	content, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	sum, text, _ := strings.Cut(string(content), "\n")
	if text == "" || sum != digest(text, 64) {
		return "", refusal("account", "%s is damaged: nothing is answered", f.path)
	}
	return text, nil
}

func (f *FileStore) write(text string) (err error) {
	beside := f.path + ".new"
	if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(digest(text, 64) + "\n" + text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(beside, f.path)
	}
	if err != nil {
		os.Remove(beside)
		return err
	}
	return syncFolder(filepath.Dir(f.path)) // the new name, too
}
