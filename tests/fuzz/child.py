"""The process in which inputs run: bounded in memory, in an empty folder, and allowed nothing but to read."""

import contextlib
import gc
import importlib
import itertools
import resource
import sys
import types
import warnings
from pathlib import Path

ENGINES = ("mutation", "hypothesis", "atheris")


def main(target_path, engine, n_inputs, seed, work, memory):
    """Run a target (`module:NAME`) on inputs of an engine; the score goes to a file in the folder `work`."""
    module, name = target_path.split(":")
    target = getattr(importlib.import_module(module), name)
    from tests.fuzz.recording import Recorder, forbid_acts

    warnings.simplefilter("error")  # a warning about what an input did is no clear refusal
    recorder = Recorder(target, Path(work) / "score", Path(work) / "findings")
    for example in target.examples():  # imports what is imported late, before the bounds are drawn
        with contextlib.suppress(Exception):
            target.check(target.read(example))
    _bound_memory(memory)
    forbid_acts()
    {"mutation": _mutation, "hypothesis": _hypothesis, "atheris": _atheris}[engine](
        target, recorder, n_inputs, seed, Path(work)
    )


def _bound_memory(n_bytes):
    """So many bytes more than the imported packages take; beyond, Python raises MemoryError."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + n_bytes, used + n_bytes))


def _mutation(target, recorder, n_inputs, seed, work):
    from tests.fuzz.mutation import Mutator

    mutator = Mutator(target.examples(), target.words, target.structured, seed)
    for data in itertools.islice(mutator, n_inputs):
        if recorder(data):
            mutator.accepted(data)


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

    # One by one: atheris's own import hook does not see what an editable installation imports.
    for function in gc.get_objects():
        if isinstance(function, types.FunctionType) and (function.__module__ or "").startswith("clausewise"):
            atheris.instrument_func(function)
    corpus = work / "corpus"
    corpus.mkdir(exist_ok=True)
    for number, example in enumerate(target.examples()):
        (corpus / str(number)).write_bytes(example)
    mutator = Mutator(target.examples(), target.words, target.structured, seed)

    def changed(data, max_size, seed):
        # Half by libFuzzer, which mutates bytes towards new branches, half by what knows the format.
        if seed % 2:
            return atheris.Mutate(data, max_size)
        mutator.random.seed(seed)
        return mutator.changed(data, max_size)

    options = [
        "fuzz",
        f"-runs={n_inputs}",
        f"-seed={seed + 1}",
        "-max_len=65536",
        "-len_control=0",  # long inputs from the start: valid ones are long
        "-timeout=60",  # the driver's own watch is stricter
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
