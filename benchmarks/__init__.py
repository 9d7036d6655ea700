"""Compare speed and memory with other packages in one run."""
