"""Hostile inputs for everything that comes from outside: `python -m tests.fuzz`, or `make fuzz`.

| file | what it does |
|---|---|
| targets.py | what is fuzzed: one target per kind of input, and what must hold for any input |
| mutation.py | new inputs out of valid ones: bytes, words, and the structure of the format |
| recording.py | runs one input, and keeps score of what was accepted, refused, slow or wrong |
| child.py | the process in which inputs run, with bounds on memory and on what may be touched |
| driver.py | starts such processes, and ends those that take too long |
| found/ | inputs that once went wrong; test_found.py runs them all |
"""
