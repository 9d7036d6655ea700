"""Keras runs on PyTorch here; that is decided before it is imported."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")
