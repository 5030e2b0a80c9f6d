"""Writing results so that a failure leaves nothing half-written behind."""

import errno
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO


def write_text(path: Path, text: str) -> None:
    """Write a whole file or nothing: a temporary file beside it takes its place at the end.

    Special files (/dev/null, pipes) are written directly. Raises `OSError` naming `path`.
    """
    write_bytes(path, lambda stream: _write(stream, text.encode()))


def write_bytes(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """As `write_text`, for what `write` puts into the stream."""
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            with path.open("wb") as stream:
                write(stream)
        else:
            _replace(path, write)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def check_writable(path: Path) -> None:
    """Raise `OSError` naming `path` if its folder is missing or it is a folder itself."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist", str(path))


def _write(stream: IO[bytes], data: bytes) -> None:
    stream.write(data)


def _replace(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
        os.chmod(temporary, _ordinary_mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _ordinary_mode(path: Path) -> int:
    """The permissions `open(path, "w")` would leave."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
