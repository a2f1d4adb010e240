package step

import (
	"fmt"
	"time"
)

// Instant is a moment in milliseconds since the Unix epoch. Its text form is RFC 3339 in UTC with exactly
// three digits of a second. The zero Instant is "none".
type Instant int64

const instantLayout = "2006-01-02T15:04:05.000Z"

// At returns the instant of t; what is finer than a millisecond is dropped.
func At(t time.Time) Instant { return Instant(t.UnixMilli()) }

// Time returns i as a time in UTC.
func (i Instant) Time() time.Time { return time.UnixMilli(int64(i)).UTC() }

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Milliseconds()) }

// Since returns how many milliseconds have passed from j to i.
func (i Instant) Since(j Instant) int64 { return int64(i - j) }

func (i Instant) String() string { return i.Time().Format(instantLayout) }

// MarshalText implements encoding.TextMarshaler.
func (i Instant) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *Instant) UnmarshalText(b []byte) error {
	t, err := time.Parse(instantLayout, string(b))
	if err != nil {
		return fmt.Errorf("read an instant: want RFC 3339 in UTC with milliseconds, got %q", b)
	}
	*i = At(t)
	return nil
}
