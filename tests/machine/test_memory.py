"""Placement of tensors in the memories (docs/hardware/machine.md#placement)."""

import resource
from pathlib import Path

import numpy as np
import pytest

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.machine import Machine, Memory
from xdsl_tpu.backend.machine.elements import F16, F32
from xdsl_tpu.backend.machine.memory import LocalMemory, Quad, spans_of
from xdsl_tpu.backend.machine.table import state_of
from xdsl_tpu.dialects.errors import TpuError

_CHIP = load_chip("bm1684x")


@pytest.fixture
def memory() -> Memory:
    return Machine(_CHIP).memory


def _formula(chip: Chip, address: int, strides: Quad, index: Quad, size: int) -> int:
    """The byte of element (n, c, h, w) as the reference writes it down."""
    lane0, offset = divmod(address, chip.local_bytes)
    n, c, h, w = index
    group, lane = divmod(lane0 + c, chip.lanes)
    steps = n * strides[0] + group * strides[1] + h * strides[2] + w * strides[3]
    return lane * chip.local_bytes + offset + steps * size


@pytest.mark.parametrize("lane", [0, 1, 63])
@pytest.mark.parametrize("channels", [1, 2, 64, 65, 130])
def test_local_elements_lie_where_the_formula_says(
    memory: Memory, lane: int, channels: int
) -> None:
    # Every lane position and number of groups, with gaps between rows and groups.
    shape, strides = (2, channels, 3, 5), (200, 50, 16, 2)
    address = lane * _CHIP.local_bytes + 128
    placed = memory.local.place(address, shape, strides, np.dtype(np.uint16))
    values = np.arange(1, 1 + np.prod(shape), dtype=np.uint16).reshape(shape)
    placed.write(values)
    assert np.array_equal(placed.read(), values)
    stored = memory.local.bytes.view(np.uint16)
    for index in np.ndindex(*shape):
        n, c, h, w = index
        byte = _formula(_CHIP, address, strides, (n, c, h, w), 2)
        assert stored[byte // 2] == values[index]
    assert np.count_nonzero(stored) == values.size


def test_overlapping_move_reads_before_it_writes(memory: Memory) -> None:
    # One row of lanes moves by 60 lanes: the first view written is part of what is still read.
    shape, strides, dtype = (1, 64, 1, 4), (0, 4, 0, 1), np.dtype(np.uint16)
    source = memory.local.place(0, shape, strides, dtype)
    values = np.arange(256, dtype=np.uint16).reshape(shape)
    source.write(values)
    target = memory.local.place(60 * _CHIP.local_bytes, shape, strides, dtype)
    target.write(source.read())
    assert np.array_equal(target.read(), values)


def test_spans_cover_all_channels_once() -> None:
    for lane in (0, 5, 63):
        for channels in (1, 59, 64, 65, 200):
            spans = spans_of(lane, channels, 64)
            covered = [s.start + i for s in spans for i in range(s.groups * s.lanes)]
            assert covered == list(range(channels))
            assert all(s.groups == 1 or s.lanes == 64 for s in spans)


def test_eu_aligned_layout(memory: Memory) -> None:
    # 7 * 7 f16 elements fill 98 bytes of a lane, so the next group starts at byte 128.
    state = state_of(_CHIP, memory)
    placed = state.eu_aligned(0, (2, 65, 7, 7), F16)
    assert placed.views[0].strides[0] == 2 * 128
    placed.write(np.ones((2, 65, 7, 7), np.float16))
    assert memory.local.bytes[98:128].max() == 0
    assert memory.local.bytes[128] + memory.local.bytes[129] > 0


@pytest.mark.parametrize(
    ("address", "shape", "message"),
    [
        (_CHIP.local_bytes - 64, (1, 1, 1, 17), "does not fit in a lane"),
        (64 * _CHIP.local_bytes, (1, 1, 1, 1), "does not fit in a lane"),
        (0, (1, 1, 0, 1), "does not fit in a lane"),
        (2, (1, 1, 1, 1), "not aligned to 4 bytes"),
    ],
)
def test_local_placement_is_checked(
    memory: Memory, address: int, shape: Quad, message: str
) -> None:
    with pytest.raises(TpuError, match=message):
        memory.local.place(address, shape, (0, 0, 0, 1), F32.storage)


def test_eu_aligned_address_is_checked(memory: Memory) -> None:
    with pytest.raises(TpuError, match="multiple of 64"):
        state_of(_CHIP, memory).eu_aligned(32, (1, 1, 1, 1), F32)


def test_ddr_takes_space_when_it_is_touched(memory: Memory) -> None:
    assert memory.ddr.bytes.size == 0
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    memory.write(_CHIP.ddr_base + 1000, values)
    assert np.array_equal(memory.read(_CHIP.ddr_base + 1000, (3, 4), np.float32), values)
    memory.write(_CHIP.ddr_base + 100_000, values)
    assert np.array_equal(memory.read(_CHIP.ddr_base + 1000, (3, 4), np.float32), values)
    assert memory.ddr.bytes.size < 1 << 20


def test_addresses_select_the_memory(memory: Memory) -> None:
    data = np.arange(8, dtype=np.uint8)
    for base in (_CHIP.local_base, _CHIP.l2_base, _CHIP.static_base + 4096, _CHIP.ddr_base):
        memory.write(base, data)
        assert np.array_equal(memory.read(base, (8,), np.uint8), data)
    assert np.array_equal(memory.local.bytes[:8], data)
    with pytest.raises(TpuError, match="in no memory"):
        memory.write(0x1000, data)
    with pytest.raises(TpuError, match="beyond the end of L2"):
        memory.write(_CHIP.l2_base + _CHIP.l2_bytes - 4, data)
    with pytest.raises(TpuError, match="leave their memory"):
        memory.write(_CHIP.static_base - 4, data)


def test_static_image_holds_the_tables(memory: Memory) -> None:
    # docs/hardware/machine.md#static-memory: exp(k) from k = -103, 1/k!, and 0..63.
    base = _CHIP.static_base
    exp = memory.read(base, (192,), np.float32)
    assert np.array_equal(exp, np.exp(np.arange(-103.0, 89.0)).astype(np.float32))
    factorials = np.cumprod(np.maximum(np.arange(32.0), 1))
    inverse = memory.read(base + 0x400, (32,), np.float32)
    assert np.array_equal(inverse, (1 / factorials).astype(np.float32))
    numbers = memory.read(base + 0x5C0, (64,), np.int32)
    assert np.array_equal(numbers, np.arange(64, dtype=np.int32))


def _resident() -> int:
    """Bytes of this process that are in memory; 0 where the system does not say."""
    file = Path("/proc/self/statm")
    return int(file.read_text().split()[1]) * resource.getpagesize() if file.exists() else 0


def test_a_byte_in_every_lane_takes_a_page_of_each() -> None:
    """Thousands of small programs are simulated and checked, each in memories of its own."""
    local = LocalMemory(_CHIP)
    before = _resident()
    local.rows(5, 1, np.dtype(np.uint8))[...] = 7
    assert _resident() - before < local.bytes.size // 4
    assert np.count_nonzero(local.bytes) == _CHIP.lanes
