"""What goes in: tables, features, labels, weights and rows. One reader for each."""
