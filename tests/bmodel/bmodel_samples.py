"""Small bmodel files to damage, and ways to damage them."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from tests.checks.check_samples import sample

from xdsl_tpu.backend.bmodel import write_bmodel
from xdsl_tpu.backend.bmodel.container import HEADER_BYTES, MAGIC
from xdsl_tpu.backend.bmodel.flatbuffer import read_root, write_root

Model = dict[str, Any]


def sample_file(folder: Path) -> bytes:
    """A small valid file."""
    path = folder / "sample.bmodel"
    write_bmodel(sample(), path)
    return path.read_bytes()


def root_size(data: bytes) -> int:
    """Bytes of the flatbuffer section."""
    return struct.unpack_from("<I", data, 8)[0]


def with_root(data: bytes, change: Callable[[Model], None]) -> bytes:
    """The file with other values in its tables; offsets and sizes of the container are right."""
    magic, header, size, binary = struct.unpack_from("<IIIQ", data)
    model = read_root("Model", data[header : header + size])
    change(model)
    root = write_root("Model", model)
    head = struct.pack("<IIIQ", magic, header, len(root), binary).ljust(header, b"\0")
    return head + root + data[header + size :]


def parameter_of(model: Model) -> Model:
    """The only stage of the only net."""
    return model["net"][0]["parameter"][0]


NUMBERS = (0, 1, 2, 4, 0x7F, 0x80, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 4, 2**32 - 1)
WIDE_NUMBERS = (*NUMBERS, 2**32, 2**33, 2**40, 2**63 - 1, 2**63, 2**64 - 4096, 2**64 - 1)


def _overwrite(data: bytes, position: int, piece: bytes) -> bytes:
    return data[:position] + piece + data[position + len(piece) :]


@st.composite
def mutations(draw: st.DrawFn, data: bytes) -> bytes:
    """The file with one to four changes, most of them to its tables.

    In three of four files the header is made to fit afterwards, so that the tables are reached.
    """
    tables = HEADER_BYTES + root_size(data)
    for _ in range(draw(st.integers(1, 4))):
        start, end = draw(st.sampled_from([(HEADER_BYTES, tables)] * 6 + [(0, len(data))]))
        data = draw(_mutation(data, start, min(end, len(data))))
    if draw(st.integers(0, 3)):
        data = data.ljust(tables, b"\0")
        head = struct.pack("<IIIQ", MAGIC, HEADER_BYTES, tables - HEADER_BYTES, len(data) - tables)
        data = _overwrite(data, 0, head)
    return data


@st.composite
def _mutation(draw: st.DrawFn, data: bytes, start: int, end: int) -> bytes:
    if end - start < 16:
        return data
    at = draw(st.integers(start, end - 9))
    kind = draw(st.sampled_from(["byte", "word", "wide", "byte", "word", "wide", "drop", "cut"]))
    match kind:
        case "byte":
            return _overwrite(data, at, draw(st.binary(min_size=1, max_size=2)))
        case "word":
            at -= at % 4
            value = draw(st.sampled_from(NUMBERS) | st.integers(0, 2**32 - 1))
            return _overwrite(data, at, struct.pack("<I", value))
        case "wide":
            at -= at % 4
            value = draw(st.sampled_from(WIDE_NUMBERS) | st.integers(0, 2**64 - 1))
            return _overwrite(data, at, struct.pack("<Q", value))
        case "cut":
            return data[:at]
        case _:
            piece = data[at : at + draw(st.integers(1, 64))]
            return data[:at] + draw(st.sampled_from([b"", 2 * piece])) + data[at + len(piece) :]
