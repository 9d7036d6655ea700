"""A slow, literal C5.0 inducer: the oracle that the C++ core is tested against.

Written from a description of C5.0's behaviour alone; "spec 2.3" in a docstring is a section of it. `rules`
is the plain NumPy reference of evaluation and voting.
"""
