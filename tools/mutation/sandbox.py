"""A copy of the repository whose tests import the copied package, so the working tree is never changed."""

import importlib.util
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

_PATHS = """
# The editable installation finds the package in the working tree; this copy is to be found instead.
import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
"""
# `runner.py` has imported packages whose assertions pytest would rewrite otherwise.
_IGNORED = "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning"
_OPTIONS = ("-p", "mutation_plugin", "-p", "no:cacheprovider", "-W", _IGNORED)


class Sandbox:
    """A copy of all files that git tracks or does not ignore, and the compiled core."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            check=True,
            capture_output=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (root / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name)
        core = importlib.util.find_spec("clausewise._core")
        if core is None or core.origin is None:
            raise RuntimeError("clausewise is not installed; run make .venv/.stamp-dev.")
        shutil.copy2(core.origin, folder / "src" / "clausewise" / Path(core.origin).name)
        paths = folder / "mutation-paths"
        paths.mkdir()
        (paths / "sitecustomize.py").write_text(_PATHS, encoding="utf-8")
        shutil.copy2(Path(__file__).with_name("plugin.py"), paths / "mutation_plugin.py")
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (folder / "src", folder / "experiments", paths))),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / ".hypothesis"),
        }
        self._runner = _Runner(folder, self._environment)

    def write(self, file: str, source: str) -> None:
        """Replace a source file, and forget its compiled form."""
        path = self.folder / file
        path.write_text(source, encoding="utf-8")
        # Bytecode is told apart by seconds and size alone, and 1 → 2 changes neither.
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def pytest(self, arguments: list[str], seconds: float, **environment: str) -> int | None:
        """Run pytest; return its exit code, or None if it took longer than `seconds`.

        Its output is in `output.txt`.
        """
        return self._runner.run([*_OPTIONS, *arguments], environment, self.folder / "output.txt", seconds)

    def pytest_in_parallel(self, arguments: list[str], **environment: str) -> int:
        """Run pytest in several processes; return its exit code."""
        with (self.folder / "output.txt").open("wb") as output:
            return subprocess.run(
                [sys.executable, "-m", "pytest", *_OPTIONS, *arguments],
                cwd=self.folder,
                env=self._environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode

    def output(self) -> str:
        """Return what the last run of pytest printed."""
        return (self.folder / "output.txt").read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        """End the process that runs tests."""
        self._runner.close()


class _Runner:
    """The process of `runner.py`, which forks for each run of pytest."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("runner.py"))],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # so that nothing waits in a buffer that `select` does not see
        )

    def run(
        self, arguments: list[str], environment: dict[str, str], output: Path, seconds: float
    ) -> int | None:
        assert self._process.stdin is not None
        request = {"arguments": arguments, "environment": environment, "output": str(output)}
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        process = self._answer(None)
        code = self._answer(seconds)
        if code is None:
            assert process is not None
            os.killpg(process, signal.SIGKILL)  # with the processes that tests have started
            self._answer(None)
        return code

    def _answer(self, seconds: float | None) -> int | None:
        """Return the next number that the process prints, or None if that takes longer than `seconds`."""
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        return int(self._process.stdout.readline()) if ready else None

    def close(self) -> None:
        assert self._process.stdin is not None
        with self._process:  # closes the other pipe, and waits
            self._process.stdin.close()
