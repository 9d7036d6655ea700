"""Small tools that every other folder may use: parameters, threads, progress, frames and JSON text."""
