"""Why: the words that speak for a label, on a page and in the terminal."""
