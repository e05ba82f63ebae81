"""Words to numbers: tokens with offsets, vocabulary, n-grams, word vectors."""
