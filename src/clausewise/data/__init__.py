"""Reading input: tables, features, labels, weights and rows, with one reader for each."""
