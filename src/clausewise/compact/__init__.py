"""Small weighted rule sets under a budget."""
