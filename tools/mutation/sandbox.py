"""A copy of the repository whose tests import the copied package, so the working tree is never changed."""

import importlib.util
import os
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
        self._paths = folder / "mutation-paths"
        self._paths.mkdir()
        (self._paths / "sitecustomize.py").write_text(_PATHS, encoding="utf-8")
        shutil.copy2(Path(__file__).with_name("plugin.py"), self._paths / "mutation_plugin.py")

    def write(self, file: str, source: str) -> None:
        """Replace a source file, and forget its compiled form."""
        path = self.folder / file
        path.write_text(source, encoding="utf-8")
        # Bytecode is told apart by seconds and size alone, and 1 → 2 changes neither.
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def pytest(self, arguments: list[str], seconds: float | None, **environment: str) -> int | None:
        """Run pytest; return its exit code, or None if it took longer than `seconds`.

        Its output is in `output.txt`.
        """
        paths = [self.folder / "src", self.folder / "experiments", self._paths]
        with (self.folder / "output.txt").open("wb") as output:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "pytest",
                    "-p",
                    "mutation_plugin",
                    "-p",
                    "no:cacheprovider",
                    *arguments,
                ],
                cwd=self.folder,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(map(str, paths)),
                    "HYPOTHESIS_STORAGE_DIRECTORY": str(self.folder / ".hypothesis"),
                    **environment,
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                return None
            finally:
                # Tests may have started processes of their own.
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def output(self) -> str:
        """Return what the last run of pytest printed."""
        return (self.folder / "output.txt").read_text(encoding="utf-8", errors="replace")
