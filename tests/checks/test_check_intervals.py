"""Sets of intervals hold the same addresses as a mark per byte, and cost no more for large ones."""

import tracemalloc

import numpy as np
import numpy.typing as npt
import pytest
from tests.checks.check_samples import ARENA, CHIP, change, sample

from xdsl_tpu.backend.checks import Fault, check_program
from xdsl_tpu.backend.checks.intervals import Intervals
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.operands import Access
from xdsl_tpu.backend.operands.region import Region, regions

SPACE = 4096
Marks = npt.NDArray[np.bool_]


def _random_access(rng: np.random.Generator) -> Access:
    """Any strides at all: rows beside each other, within each other, between each other."""
    while True:
        n, c, h, w = (int(k) for k in rng.integers(1, 7, 4))
        strides = tuple(int(k) for k in rng.integers(0, 64, 4))
        sn, sc, sh, sw = strides
        address, size = int(rng.integers(0, 512)), int(rng.choice([1, 2, 4]))
        access = Access("opd0", False, address, (n, c, h, w), (sn, sc, sh, sw), size, False, 1)
        last = sum((k - 1) * s for k, s in zip((n, c, h, w), strides, strict=True))
        if address + (last + 1) * size <= SPACE:
            return access


def _bytes(access: Access) -> Marks:
    """Element by element."""
    marks = np.zeros(SPACE, np.bool_)
    for index in np.ndindex(*access.shape):
        offset = sum(i * s for i, s in zip(index, access.strides, strict=True))
        start = access.address + offset * access.size
        marks[start : start + access.size] = True
    return marks


def _counts(region: Region) -> npt.NDArray[np.int64]:
    at = np.array([region.start], np.int64)
    for count, step in zip((*region.sizes, region.run), (*region.steps, 1), strict=True):
        at = np.add.outer(at, np.arange(count) * step).ravel()
    return np.bincount(at, minlength=SPACE)


def test_regions_have_every_byte_once() -> None:
    rng = np.random.default_rng(0)
    several = 0
    for _ in range(400):
        access = _random_access(rng)
        found = regions(access, CHIP)
        several += len(found) > 1
        assert np.array_equal(sum(map(_counts, found)), _bytes(access).astype(np.int64)), access
    assert several > 20  # strides that share no factor, rows within each other


def test_a_set_is_what_marks_are() -> None:
    rng = np.random.default_rng(1)
    partly = 0
    for _ in range(80):
        intervals, marks = Intervals(), np.zeros(SPACE, np.bool_)
        for _ in range(12):
            (first, *_), (read, *_) = (regions(_random_access(rng), CHIP) for _ in range(2))
            missing = np.flatnonzero((_counts(read) > 0) & ~marks)
            found = intervals.missing(read)
            if found is None:
                assert not missing.size
            else:
                assert (found.count, found.first, found.last) == (
                    missing.size,
                    missing[0],
                    missing[-1],
                )
                partly += 0 < missing.size < np.count_nonzero(_counts(read))
            intervals.add(first)
            marks |= _counts(first) > 0
    assert partly > 50


def _large(step: int) -> list[str]:
    """60,000 rows of 16,000 elements, `step` elements apart, are read from an arena of 4 GiB."""
    program = sample()
    program.arena_bytes = (4 << 30) - 0x20000
    load = program.gdma[1]
    source = ARENA + 0x100000
    fields = {**load.fields, "cmd_id": 3, "src_nsize": 1, "src_hsize": 1}
    fields |= {"src_csize": 60000, "src_wsize": 16000}
    fields |= {"src_cstride": 16000 * step, "src_wstride": step}
    fields |= {"src_start_addr_h8": source >> 32, "src_start_addr_l32": source & 0xFFFF_FFFF}
    target = source if step > 1 else source + 60000 * 32000
    fields |= {"dst_start_addr_h8": target >> 32, "dst_start_addr_l32": target & 0xFFFF_FFFF}
    fields |= {"dst_cstride": 16000 * step, "dst_wstride": step}
    program.gdma.insert(2, Command(load.form, fields))
    for identity in (4, 5):
        change(program, Engine.GDMA, identity, cmd_id=identity)
    return [str(f) for f in check_program(program, CHIP) if f.fault is Fault.UNWRITTEN]


@pytest.mark.parametrize("step", [1, 2])
def test_gigabytes_cost_no_more_than_the_commands(step: int) -> None:
    check_program(sample(), CHIP)
    tracemalloc.start()
    (found,) = _large(step)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    last = ARENA + 0x100000 + (60000 * 16000 - 1) * 2 * step + 1
    assert "src reads 1920000000 bytes of DDR in 0x100110000 to " in found
    assert f"{last:#x}, which nothing has written" in found
    assert peak < 200 << 20  # marks of local memory; none of DDR


def test_overlapping_strides_in_too_many_pieces_are_refused() -> None:
    """Rows 30011 and 30013 elements apart lie between each other almost everywhere."""
    program = sample()
    program.arena_bytes = (4 << 30) - 0x20000
    fields = {"src_nsize": 20000, "src_csize": 20000, "src_hsize": 1, "src_wsize": 1}
    fields |= {"src_nstride": 30011, "src_cstride": 30013, "src_start_addr_l32": 0x10000}
    change(program, Engine.GDMA, 1, **fields)
    found = [str(f) for f in check_program(program, CHIP) if f.fault is Fault.UNKNOWN]
    assert any("overlap in a pattern of more than 4096 pieces" in text for text in found), found
