"""Rule sets as files."""
