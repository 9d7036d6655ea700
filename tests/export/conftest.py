"""The PostgreSQL server that the tests of this folder share."""

import pytest
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
