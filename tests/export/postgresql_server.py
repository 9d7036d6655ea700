"""A private PostgreSQL server in a temporary folder, reached through a socket in that folder."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

USER = "clausewise"
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "jit": "off",
    "max_connections": "10",
}
START_SECONDS = 60


class NoServerError(Exception):
    """PostgreSQL cannot be run here; the message says why."""


@contextlib.contextmanager
def running_server():
    """Yield the folder of the socket of a new server, which stops at the end."""
    initdb, postgres = _program("initdb"), _program("postgres")
    account = _account()
    # Not in pytest's folder, which other accounts cannot enter, and with a path short enough for a socket.
    folder = Path(tempfile.mkdtemp(prefix="clausewise-pg-", dir="/tmp"))
    try:
        if account:
            os.chown(folder, account["user"], account["group"])
        data = folder / "data"
        made = subprocess.run(
            [initdb, "-D", data, "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
            cwd=folder, capture_output=True, text=True, check=False, **account,
        )  # fmt: skip
        if made.returncode != 0:
            raise NoServerError(f"initdb failed: {made.stderr.strip()}")
        options = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [postgres, "-D", data, "-k", folder, *options], cwd=folder, stdout=log, stderr=log, **account
            )
        try:
            _wait_for(server, folder)
            yield folder
        finally:
            server.terminate()
            server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def connect(folder):
    """Return a connection to the server in this folder."""
    import psycopg

    return psycopg.connect(
        host=str(folder), user=USER, dbname="postgres", autocommit=True, prepare_threshold=None
    )


def _program(name):
    """Return the path of a program of the server; Debian does not put them on PATH."""
    installed = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: float(path.parts[-3])
    )
    found = shutil.which(name) or (installed[-1] if installed else None)
    if found is None:
        raise NoServerError(f"{name} of PostgreSQL is not installed")
    return found


def _account():
    """Return the account that runs the server as arguments of Popen; PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise NoServerError("PostgreSQL refuses to run as root, and there is no account postgres or nobody")


def _wait_for(server, folder):
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            connect(folder).close()
            return
        except psycopg.OperationalError as error:
            if server.poll() is not None or time.monotonic() > deadline:
                log = (folder / "log").read_text(encoding="utf-8", errors="replace")
                raise NoServerError(f"PostgreSQL did not start: {log.strip() or error}") from None
        time.sleep(0.05)
