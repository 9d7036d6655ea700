"""Short, faithful IF-THEN rules from trained neural networks."""

from importlib.metadata import version as _version

__version__ = _version("clausewise")
__all__ = ["__version__"]
