package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// blobError is a blob that a line names and that is missing or not what was written.
type blobError struct {
	sum string
	why string
	err error
}

func (e *blobError) Error() string { return fmt.Sprintf("its blob %q %s", e.sum, e.why) }
func (e *blobError) Unwrap() error { return e.err }

// writeBlob stores data durably and returns its name. A blob that is there already is not trusted: a power
// failure may have left its name without its content.
func writeBlob(dir string, data []byte) (string, error) {
	digest := sha256.Sum256(data)
	sum := hex.EncodeToString(digest[:])
	folder := filepath.Join(dir, BlobDir)
	if err := os.Mkdir(folder, dirMode); err == nil {
		if err := SyncDir(dir); err != nil {
			return "", err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return "", storage("create", folder, err)
	}
	return sum, WriteFile(filepath.Join(folder, sum), data, true)
}

// readBlob returns a blob's bytes, verified.
func readBlob(dir, sum string, size int64) ([]byte, error) {
	if !isSum(sum) || size < 0 {
		return nil, &blobError{sum: sum, why: "is no name of a blob"}
	}
	f, err := os.Open(filepath.Join(dir, BlobDir, sum))
	if err != nil {
		return nil, &blobError{sum: sum, why: "can't be read: " + bare(err).Error(), err: err}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, size+1))
	if err != nil {
		return nil, &blobError{sum: sum, why: "can't be read: " + bare(err).Error(), err: err}
	}
	if digest := sha256.Sum256(data); int64(len(data)) != size || hex.EncodeToString(digest[:]) != sum {
		return nil, &blobError{sum: sum, why: "is not what was written"}
	}
	return data, nil
}

// isSum says whether a text from a file is a SHA-256 in lower-case hex, and so safe as a file's name.
func isSum(s string) bool {
	if len(s) != hex.EncodedLen(sha256.Size) {
		return false
	}
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f') {
			return false
		}
	}
	return true
}
