package cli

import "strings"

// nearest returns the known word that is most like word, or "" when none is near: a third of its letters may differ,
// and a beginning counts as near.
func nearest(word string, known []string) string {
	best, least := "", len(word)/3+1
	for _, k := range known {
		if d := distance(strings.ReplaceAll(word, "_", "-"), k); d < least {
			best, least = k, d
		}
	}
	if best != "" || len(word) < 2 {
		return best
	}
	for _, k := range known {
		if strings.HasPrefix(k, word) {
			return k
		}
	}
	return ""
}

// distance counts the letters to insert, delete or replace to make b of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
