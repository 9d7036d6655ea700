"""Reading and writing rule files, and writing files atomically."""
