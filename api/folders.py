"""A temporary folder that lives as long as what is in it is used."""

import shutil
import tempfile
import weakref
from pathlib import Path


class Owned:
    """A new folder; it goes when nobody holds this object any more, at the latest at exit."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="xdsl-tpu-"))
        self._end = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def remove(self) -> None:
        """Do not wait for that."""
        self._end()
