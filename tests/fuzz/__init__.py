"""Fuzzing of all external input: `python -m tests.fuzz`, or `make fuzz`.

| file | purpose |
|---|---|
| targets.py | one target per kind of input: how it is read, and what must hold for any input |
| large_tables.py | small files that describe large tables |
| onnx_models.py, page_requests.py | examples and mutations of ONNX models and of HTTP requests |
| mutation.py | mutates valid inputs: bytes, words, and the structure of the format |
| recording.py | runs one input, and counts accepted, refused, slow and failing inputs |
| child.py | the process in which inputs run, with limits on memory and on side effects |
| driver.py | starts these processes, and kills those that hang |
| bad_targets.py | targets that misbehave, to test the fuzzer itself |
| found/ | inputs that once failed; test_fuzz.py runs them all |
"""
