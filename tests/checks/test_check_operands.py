"""What the operand rules say a command touches, against the byte sets measured in the C model."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tests.bm1684x import EXECUTORS, FORMS
from tests.machine.golden_vectors import Vector, vectors

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.operands import Access, accesses
from xdsl_tpu.backend.operands.region import Region, regions

CHIP = load_chip("bm1684x")
_DATA = Path(__file__).parents[1] / "data" / "golden"
VECTORS = [vector for name in ("unit", "more") for vector in vectors(_DATA / name)]
SYSTEM = 1 << 50
"""Added to addresses outside local memory, so that the two spaces do not mix."""


def _bytes(found: Iterable[Access]) -> npt.NDArray[np.int64]:
    parts = [
        _expanded(region) + (0 if access.local else SYSTEM)
        for access in found
        for region in regions(access, CHIP)
    ]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))


def _expanded(region: Region) -> npt.NDArray[np.int64]:
    at = np.array([region.start], np.int64)
    for count, step in zip((*region.sizes, region.run), (*region.steps, 1), strict=True):
        at = np.add.outer(at, np.arange(count) * step).ravel()
    return at


def _measured(vector: Vector, key: str) -> Iterator[Access]:
    bases = {"L": 0, "G": CHIP.ddr_base, "S": CHIP.static_base}
    for operand in vector.entry[key]:
        n, c, h, w = operand["data_shape"]
        sn, sc, sh, sw = operand["stride"]
        yield Access(
            key,
            operand["mem"] == "L",
            operand["addr"] + bases[operand["mem"]],
            (n, c, h, w),
            (sn, sc, sh, sw),
            int(operand["dtype"].lstrip("uisbf")) // 8,
            key == "outputs",
            1,
        )


@pytest.mark.parametrize("form", sorted({vector.form for vector in VECTORS}))
def test_rules_touch_what_the_chip_touches(form: str) -> None:
    for vector in (v for v in VECTORS if v.form == form):
        found = accesses(vector.command, CHIP)
        for writes, key in ((False, "inputs"), (True, "outputs")):
            mine = _bytes(a for a in found if a.writes == writes)
            theirs = _bytes(_measured(vector, key))
            if _has_filler(vector):
                assert np.isin(mine, theirs).all(), vector.name
            else:
                assert np.array_equal(mine, theirs), vector.name


def _has_filler(vector: Vector) -> bool:
    """The recorded left matrix includes columns of its last block that hold no matrix."""
    command = vector.command
    return command.form.name == "sMM" and command["opd1_w"] != command["opd0_w"]


def test_everything_that_is_simulated_has_rules() -> None:
    for form, function in EXECUTORS:
        assert FORMS[form].instructions[function].described is not None


@pytest.mark.parametrize(
    ("lane", "channels"), [(0, 1), (0, 64), (0, 65), (0, 130), (5, 59), (5, 60), (60, 200), (63, 2)]
)
def test_channels_wrap_around_the_lanes(lane: int, channels: int) -> None:
    """Byte by byte: lane (lane0 + c) mod 64, group (lane0 + c) div 64."""
    shape, strides = (2, channels, 3, 5), (4000, 64, 7, 1)
    access = Access("x", True, (lane << 18) + 128, shape, strides, 2, False, 2)
    n, c, h, w = np.indices(shape)
    group, on = np.divmod(lane + c, CHIP.lanes)
    first = on * CHIP.local_bytes + 128
    first = first + 2 * (n * strides[0] + group * strides[1] + h * strides[2] + w)
    assert np.array_equal(_bytes([access]), np.unique([first, first + 1]))
