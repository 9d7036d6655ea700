"""The databases that run exported queries; PostgreSQL is one server for the whole session."""

import pytest
from tests.export.engines import DuckDB, PostgreSQL, SQLite
from tests.export.postgresql_server import NoServerError, connect, running_server


@pytest.fixture(scope="session")
def postgresql():
    """Yield a connection to a private server; skip where none can be run."""
    pytest.importorskip("psycopg", exc_type=ImportError)
    try:
        with running_server() as folder, connect(folder) as connection:
            yield connection
    except NoServerError as error:
        pytest.skip(f"No PostgreSQL server: {error}")


@pytest.fixture(scope="session", params=["sqlite", "duckdb", "postgresql"])
def database(request):
    """Return each database in turn."""
    if request.param == "postgresql":
        return PostgreSQL(request.getfixturevalue("postgresql"))
    return {"sqlite": SQLite, "duckdb": DuckDB}[request.param]()
