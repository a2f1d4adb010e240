package notes

import (
	"slices"
	"testing"
)

func TestTitleOfOneLine(t *testing.T) {
	if got := Title("bread"); got != "bread" {
		t.Errorf("got %q", got)
	}
}

func TestTitleOfHeading(t *testing.T) {
	if got := Title("# Bread\nflour\n"); got != "Bread" {
		t.Errorf("got %q", got)
	}
}

func TestSearch(t *testing.T) {
	s := Store{t.TempDir()}
	for _, n := range [][2]string{{"rolls", "flour and milk"}, {"bread", "flour and water"}, {"tea", "water"}} {
		if err := s.Write(n[0], n[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ words, want []string }{
		{[]string{"flour"}, []string{"bread", "rolls"}},
		{[]string{"flour", "water"}, []string{"bread"}},
		{[]string{"salt"}, nil},
	} {
		if got, err := s.Search(c.words...); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, %v", c.words, got, err)
		}
	}
}
