"""The arithmetic of tiles, and that prices agree with the timeline."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.lanes import view_columns, view_rows
from xdsl_tpu.backend.kernels.tiling import (
    Axis,
    cut,
    pipeline_cycles,
    steps_of,
)
from xdsl_tpu.backend.kernels.transfer import fetch, load_cycles, put, store_cycles
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, aligned, contiguous
from xdsl_tpu.backend.timing import transfer


@given(total=st.integers(1, 500), unit=st.sampled_from([1, 32, 64]))
def test_steps_cover_an_axis(total: int, unit: int) -> None:
    sizes = steps_of(total, unit)
    assert sizes[0] == total
    assert all(size % unit == 0 or size == total for size in sizes)
    for size in sizes:
        assert [i for piece in cut(total, size) for i in range(piece.start, piece.end)] == list(
            range(total)
        )


@settings(max_examples=200)
@given(
    size=st.integers(1, 40),
    kernel=st.integers(1, 5),
    stride=st.integers(1, 4),
    before=st.integers(0, 3),
    after=st.integers(0, 3),
    dilation=st.integers(1, 3),
    step=st.integers(1, 12),
)
def test_every_tap_of_a_tile_is_in_reach(
    size: int, kernel: int, stride: int, before: int, after: int, dilation: int, step: int
) -> None:
    out = (size + before + after - (kernel - 1) * dilation - 1) // stride + 1
    if out < 1:
        return
    axis = Axis(size, out, kernel, stride, before, after, dilation)
    for piece in cut(out, step):
        reach, front, back = axis.reach(piece)
        read = reach.size + front + back - (kernel - 1) * dilation - 1
        assert read // stride + 1 == piece.size
        merged = view_rows(axis, piece, True)
        for tap in range(kernel):
            wanted = [i * stride + tap * dilation - before for i in range(piece.start, piece.end)]
            local = [i * stride + tap * dilation - front for i in range(piece.size)]
            for place, index in zip(local, wanted, strict=True):
                inside = 0 <= index < size
                assert (0 <= place < reach.size) == inside
                assert not inside or reach.start + place == index
            valid = merged.inside(tap, size)
            shown = [merged.first + tap * merged.tap + j * merged.step for j in range(piece.size)]
            assert shown == wanted
            assert [piece.start + j for j in range(valid.start, valid.end)] == [
                piece.start + j for j, index in enumerate(wanted) if 0 <= index < size
            ]
        assert view_columns(axis, piece, True).count == (piece.size - 1) * stride + 1


@pytest.mark.parametrize(
    ("shape", "start", "part"),
    [
        ((1, 64, 56, 56), (0, 0, 0, 0), (1, 64, 56, 56)),
        ((1, 64, 56, 56), (0, 0, 10, 0), (1, 64, 9, 56)),
        ((1, 32, 112, 112), (0, 0, 0, 0), (1, 32, 56, 112)),
        ((2, 70, 7, 7), (0, 0, 0, 0), (2, 70, 7, 7)),
        ((1, 200, 1, 384), (0, 64, 0, 128), (1, 100, 1, 128)),
        ((1, 1, 1, 2048), (0, 0, 0, 0), (1, 1, 1, 2048)),
    ],
)
def test_prices_are_those_of_the_timeline(
    shape: tuple[int, int, int, int],
    start: tuple[int, int, int, int],
    part: tuple[int, int, int, int],
) -> None:
    chip = load_chip()
    program = Program("prices", chip.name, "F16")
    emitter = Emitter(chip, program)
    ddr = contiguous(chip.ddr_base, shape, DType.F16).window(start, part)
    local = aligned(chip, 0, part, DType.F16)
    fetch(emitter, local, ddr)
    loads = sum(transfer(command, chip).cycles for command in program.gdma)
    assert abs(load_cycles(local, ddr, chip) - loads) <= len(program.gdma)
    program.gdma.clear()
    put(emitter, ddr, local)
    stores = sum(transfer(command, chip).cycles for command in program.gdma)
    assert abs(store_cycles(ddr, local, chip) - stores) <= len(program.gdma)


@pytest.mark.parametrize(
    ("steps", "cycles"),
    [
        ([(10, 5, 3)], 18),
        # L0 L1 | L2 S0 | S1 | S2: the loads and stores of one queue, nothing to wait for
        ([(10, 5, 3)] * 3, 30 + 3 + 3 + 3),
        # Each computation waits for the one before it, the first for its load
        ([(10, 50, 3)] * 3, 10 + 150 + 3),
    ],
)
def test_a_pipeline_overlaps_both_engines(steps: list[tuple[int, int, int]], cycles: int) -> None:
    assert pipeline_cycles(steps, len(steps)) == cycles


def test_a_long_pipeline_goes_on_at_its_pace() -> None:
    assert pipeline_cycles([(1, 7, 1)] * 4000, 4000) == pytest.approx(28000, rel=0.01)
