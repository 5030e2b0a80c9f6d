"""Lanes and columns of tensors in local memory in each other's place, line by line."""

from collections.abc import Iterator
from typing import NamedTuple

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.tensor import LocalTensor, Shape4, aligned, strided
from xdsl_tpu.dialects.errors import NoKernel

SCRATCH_BYTES = 16384
"""Bytes per lane of what one command exchanges, where it could be more."""


class _Tile(NamedTuple):
    """At most a lane group of channels and one of columns, of lines from `y` on."""

    n: int
    c: int
    channels: int
    y: int
    lines: int
    w: int
    columns: int


def transpose(emitter: Emitter, out: LocalTensor, a: LocalTensor) -> None:
    """out (1, columns, 1, rows) = a (1, rows, 1, columns), both on lane 0 and EU-aligned; rows of
    `out` must be multiples of the EU width apart when it has several lane groups.

    Raises NoKernel on chips where a lane group is shorter than the EU width, when more than one is
    needed: columns begin where lane groups do.
    """
    chip, (_, rows, _, columns) = emitter.chip, a.shape
    eu = chip.eu(a.dtype.bytes)
    if chip.lanes % eu and max(rows, columns) > chip.lanes:
        raise NoKernel(
            f"a {rows} x {columns} matrix of {a.dtype.label} cannot be transposed on {chip.name}: "
            f"its {chip.lanes} lanes are no multiple of the {eu} elements of the EU width"
        )
    exchange(emitter, LocalMemory(chip, ()), a, out)


def exchange(emitter: Emitter, scratch: LocalMemory, x: LocalTensor, out: LocalTensor) -> None:
    """Write x (n, c, h, w) to out (n, w, h, c).

        (c, h, w)  copied as tiles of a lane group  (c, h', w')  exchanged  (w', h', c)

    Nothing is copied where a side has one lane group of columns and lies without gaps.
    """
    chip = emitter.chip
    alike: dict[tuple[Shape4, bool, bool], list[tuple[LocalTensor, LocalTensor]]] = {}
    for n, c, channels, y, lines, w, columns in _tiles(chip, x, out):
        source = x.window((n, c, y, w), (1, channels, lines, columns), chip)
        target = out.window((n, w, y, c), (1, columns, lines, channels), chip)
        key = source.shape, _lies(chip, source), _lies(chip, target)
        alike.setdefault(key, []).append((source, target))
    for tiles in alike.values():
        for source, target in emitter.alike(tiles):
            with scratch.temporary():
                _exchange(emitter, scratch, source, target)


def _exchange(
    emitter: Emitter, scratch: LocalMemory, source: LocalTensor, target: LocalTensor
) -> None:
    """The same of one tile."""
    chip = emitter.chip
    given, made = (
        _plain(chip, part) if _lies(chip, part) else scratch.aligned(part.shape, part.dtype)
        for part in (source, target)
    )
    if given.address != source.address:
        _copy(emitter, given, source)
    emitter.transpose_cw(made, given)
    if made.address != target.address:
        _copy(emitter, target, made)


def _copy(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
    """A copy with what lies closer together in both innermost, as gaps between neighbours cost
    time."""
    if x.strides[2] + out.strides[2] < x.strides[3] + out.strides[3]:
        out, x = _swapped(out), _swapped(x)
    emitter.copy(out, x)


def _swapped(tensor: LocalTensor) -> LocalTensor:
    """Rows as columns and columns as rows, where they lie."""
    (n, c, h, w), (by_n, by_group, by_h, by_w) = tensor.shape, tensor.strides
    return strided(tensor.address, (n, c, w, h), (by_n, by_group, by_w, by_h), tensor.dtype)


def _tiles(chip: Chip, x: LocalTensor, out: LocalTensor) -> Iterator[_Tile]:
    lanes, (count, channels, height, width) = chip.lanes, x.shape
    units = chip.eu(x.dtype.bytes)
    is_one = max(channels, width) <= lanes and _lies(chip, x) and _lies(chip, out)
    most = max(1, SCRATCH_BYTES // (lanes * x.dtype.bytes) // units) * units
    step = height if is_one else most
    for n in range(count):
        for c in range(0, channels, lanes):
            for w in range(0, width, lanes):
                sizes = min(lanes, channels - c), min(lanes, width - w)
                for y in range(0, height, step):
                    yield _Tile(n, c, sizes[0], y, min(step, height - y), w, sizes[1])


def _plain(chip: Chip, part: LocalTensor) -> LocalTensor:
    """A part that lies without gaps, as a command has it that knows no strides."""
    return aligned(chip, part.address, part.shape, part.dtype)


def _lies(chip: Chip, part: LocalTensor) -> bool:
    """Whether the lines of a part of one lane group follow each other from an EU's width on."""
    _, _, height, width = part.shape
    dense = part.strides[3] == 1 and (part.strides[2] == width or height == 1)
    return dense and part.address % chip.eu_bytes == 0
