package config

import "strings"

// nearest returns the word that name was probably meant to be, or "". A word whose last part is the name counts as
// near: somebody wrote api_key for openai.api_key.
func nearest(name string, words []string) string {
	name = normal(name)
	best, least := "", max(2, len(name)/4)+1
	for _, word := range words {
		w := normal(word)
		if strings.HasSuffix(w, "."+name) && best == "" {
			best = word
		}
		if d := distance(name, w); d < least && d < len(w) {
			best, least = word, d
		}
	}
	return best
}

func normal(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "-", "_")
}

// distance is Levenshtein's, over bytes, with one row of memory. Long names are not compared.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
