"""A temporary file that lives as long as the object that holds it."""

import tempfile


class Spool(tempfile.SpooledTemporaryFile[bytes]):
    """Bytes in memory, or beyond `max_size` in a file without a name, which goes with its last use."""

    def __del__(self) -> None:
        self.close()
