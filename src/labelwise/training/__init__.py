"""From numbered documents to trained weights: one loop for every network."""
