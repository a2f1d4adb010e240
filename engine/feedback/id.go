package feedback

import (
	"cmp"
	"strconv"
	"strings"
)

// itemID is the id of an item: the path of the stage that gave it, a dot, and its number among the items of
// that stage, from 1: "quality_review.1", "parent/check[0].2". It says nothing of when a stage ended beside
// others, so reviews that run at once give the same ids in whatever order they end.
func itemID(source string, number int) string { return source + "." + strconv.Itoa(number) }

// splitID is the source and the number of an id; a text that is no id is a source with the number 0. The
// last dot counts: a source may hold others.
func splitID(id string) (source string, number int) {
	dot := strings.LastIndexByte(id, '.')
	if dot < 0 {
		return id, 0
	}
	digits := id[dot+1:]
	n, err := strconv.Atoi(digits)
	if err != nil || digits[0] < '1' || digits[0] > '9' { // a sign or a leading zero: not as we write it
		return id, 0
	}
	return id[:dot], n
}

// compareIDs orders ids by source, then by number; only equal ids are equal.
func compareIDs(a, b string) int {
	sourceA, numberA := splitID(a)
	sourceB, numberB := splitID(b)
	return cmp.Or(strings.Compare(sourceA, sourceB), cmp.Compare(numberA, numberB))
}
