"""Files that are read must be there; a failure leaves nothing half-written behind."""

import errno
import gzip
import os
import stat
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from xdsl_tpu.dialects.errors import TpuError


def require_file(path: Path) -> None:
    """Raise TpuError unless there is a file of that name."""
    if path.is_dir():
        raise TpuError(f"{path}: a folder, where a file is wanted")
    if not path.is_file():
        raise TpuError(f"{path}: no such file")


def write_text(path: Path, text: str) -> None:
    """Write a whole file or nothing: a temporary file beside it takes its place at the end.

    Special files (/dev/null, pipes) are written directly. Raises `OSError` naming `path`.
    """
    write_bytes(path, text_writer(text))


def write_bytes(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """As `write_text`, for what `write` puts into the stream."""
    write_together({path: write})


def write_together(files: Mapping[Path, Callable[[IO[bytes]], None]]) -> None:
    """As `write_bytes`, for several files: all of them appear, or none does."""
    temporaries: dict[Path, str] = {}
    try:
        for path, write in files.items():
            try:
                if path.exists() and not stat.S_ISREG(path.stat().st_mode):
                    with path.open("wb") as stream:
                        write(stream)
                else:
                    _write_beside(path, write, temporaries)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(path)) from error
        for path, temporary in temporaries.items():
            os.replace(temporary, path)
    except BaseException:
        for temporary in temporaries.values():
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        raise


def text_writer(text: str) -> Callable[[IO[bytes]], None]:
    """What writes a text, for `write_together`."""
    return lambda stream: _write(stream, text.encode())


def trace_writer(path: Path, text: str) -> Callable[[IO[bytes]], None]:
    """As `text_writer`, compressed for a `path` that ends in `.gz`: equal texts, equal bytes."""
    if path.suffix != ".gz":
        return text_writer(text)
    return lambda stream: _write(stream, gzip.compress(text.encode(), mtime=0))


def check_writable(path: Path) -> None:
    """Raise `OSError` naming `path` if its folder is missing or it is a folder itself."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist", str(path))


def check_apart(paths: Sequence[Path]) -> None:
    """As `check_writable` for several files, and raise TpuError where two are the same one."""
    for number, path in enumerate(paths):
        check_writable(path)
        is_special = path.exists() and not path.is_file()
        if not is_special and path.resolve() in map(Path.resolve, paths[:number]):
            raise TpuError(f"{path}: two results would go there; name a file for each")


def _write(stream: IO[bytes], data: bytes) -> None:
    stream.write(data)


def _write_beside(
    path: Path, write: Callable[[IO[bytes]], None], temporaries: dict[Path, str]
) -> None:
    handle, temporaries[path] = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "wb") as stream:
        write(stream)
    os.chmod(temporaries[path], _ordinary_mode(path))


def _ordinary_mode(path: Path) -> int:
    """The permissions `open(path, "w")` would leave."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
