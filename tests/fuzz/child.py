"""The process in which inputs run: with limited memory, in an empty folder, and only allowed to read."""

import contextlib
import gc
import importlib
import itertools
import resource
import sys
import types
import warnings
from pathlib import Path

ENGINES = ("mutation", "hypothesis", "atheris", "large")


def main(target_path, engine, n_inputs, seed, work, memory):
    """Run a target (`module:NAME`) on inputs of an engine; the score is written to the folder `work`."""
    module, name = target_path.split(":")
    target = getattr(importlib.import_module(module), name)
    from tests.fuzz.recording import Recorder, forbid_side_effects

    warnings.simplefilter("error")  # a warning is not a clear refusal
    recorder = Recorder(target, Path(work) / "score", Path(work) / "findings")
    for example in target.examples():  # triggers late imports before the limits apply
        with contextlib.suppress(Exception):
            target.check(target.read(example))
    _limit_memory(memory)
    forbid_side_effects()
    engines = {"mutation": _mutation, "hypothesis": _hypothesis, "atheris": _atheris, "large": _large}
    engines[engine](target, recorder, n_inputs, seed, Path(work))


def _limit_memory(n_bytes):
    """Allow `n_bytes` on top of what the imported packages take; beyond that, Python raises MemoryError."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + n_bytes, used + n_bytes))


def _mutation(target, recorder, n_inputs, seed, work):
    from tests.fuzz.mutation import Mutator

    mutator = Mutator(target.examples(), target.words, target.structured, seed)
    for data in itertools.islice(mutator, n_inputs):
        if recorder(data):
            mutator.accepted(data)


def _large(target, recorder, n_inputs, seed, work):
    """Run the files that another process has written, and remove them."""
    for path in sorted((work / "large").iterdir())[:n_inputs]:
        data = path.read_bytes()
        path.unlink()
        recorder(data)


def _hypothesis(target, recorder, n_inputs, seed, work):
    import hypothesis

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=n_inputs,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(target.strategy())
    def every(data):
        recorder(data)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        every()


def _atheris(target, recorder, n_inputs, seed, work):
    import atheris

    from tests.fuzz.mutation import Mutator

    # One by one, because atheris's import hook does not see editable installations.
    for function in gc.get_objects():
        if isinstance(function, types.FunctionType) and (function.__module__ or "").startswith("clausewise"):
            atheris.instrument_func(function)
    corpus = work / "corpus"
    corpus.mkdir(exist_ok=True)
    for number, example in enumerate(target.examples()):
        (corpus / str(number)).write_bytes(example)
    mutator = Mutator(target.examples(), target.words, target.structured, seed)

    def changed(data, max_size, seed):
        # Half by libFuzzer, which is guided by coverage, half by the mutator, which knows the format.
        if seed % 2:
            return atheris.Mutate(data, max_size)
        mutator.random.seed(seed)
        return mutator.changed(data, max_size)

    options = [
        "fuzz",
        f"-runs={n_inputs}",
        f"-seed={seed + 1}",
        "-max_len=65536",
        "-len_control=0",  # long inputs from the start, because valid ones are long
        "-timeout=60",  # the driver's limit is stricter
        "-rss_limit_mb=0",
        "-verbosity=0",
        "-print_final_stats=0",
        f"-artifact_prefix={work}/findings/",
        str(corpus),
    ]
    atheris.Setup(options, recorder, custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    target_path, engine, n_inputs, seed, work, memory = sys.argv[1:]
    main(target_path, engine, int(n_inputs), int(seed), work, int(memory))
