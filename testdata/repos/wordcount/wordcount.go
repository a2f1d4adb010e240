// Package wordcount counts the words of a text.
package wordcount

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Count returns how many words the text has. Words are separated by white space.
func Count(text string) int {
	n := 0
	inWord := false
	for _, r := range text {
		if unicode.IsSpace(r) {
			if inWord {
				n++
			}
			inWord = false
		} else {
			inWord = true
		}
	}
	return n
}

// Top returns the n words that the text has most often, the most frequent first and equally frequent ones by
// the alphabet. Where the text has fewer words it returns them all. "The" and "the" are the same word.
func Top(text string, n int) []string {
	count := map[string]int{}
	for _, word := range strings.Fields(text) {
		count[strings.ToLower(word)]++
	}
	words := make([]string, 0, len(count))
	for word := range count {
		words = append(words, word)
	}
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	if n >= len(words) {
		n = len(words) - 1
	}
	return words[:n]
}
