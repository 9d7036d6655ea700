"""
Compiled kernels of clausewise. Everything here is private; use the clausewise package.
"""

def hardware_threads() -> int:
    """Number of hardware threads the C++ runtime sees (0 if unknown)."""
