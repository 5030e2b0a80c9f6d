"""Any index map from DDR to DDR: on the machine, beside numpy doing the same."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.movement import Source, carry_out, least_cycles, movement_cycles
from xdsl_tpu.backend.movement.job import jobs_of, widened
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap
from xdsl_tpu.dialects.interfaces.movement import Along, padded_axis, rectangles

CHIP = load_chip("bm1684x")
SIZES = (1, 2, 3, 5, 7, 8, 13, 31, 67, 130)
KINDS = (DType.I8, DType.F16, DType.F32)


@dataclass
class Case:
    """A movement: shapes of the operands, their maps, and the numbers of elements to expect.

    Elements count through all operands; the border is -1.
    """

    shapes: list[tuple[int, ...]]
    maps: list[IndexMap]
    expected: npt.NDArray[np.int64]
    fill: float | None = None

    @property
    def sources(self) -> list[Source]:
        return [Source(number, one.boxes) for number, one in enumerate(self.maps)]


def numbers(*shapes: tuple[int, ...]) -> list[npt.NDArray[np.int64]]:
    """The elements of operands, counted."""
    found: list[npt.NDArray[np.int64]] = []
    start = 0
    for shape in shapes:
        size = math.prod(shape)
        found.append(np.arange(start, start + size, dtype=np.int64).reshape(shape))
        start += size
    return found


def run(case: Case, kind: DType) -> int:
    """Carry out a case on the machine, compare every bit; returns the program's cycles."""
    rng = np.random.default_rng(7)
    unsigned = np.dtype(f"u{kind.bytes}")
    sizes = [math.prod(shape) for shape in case.shapes]
    data = rng.integers(0, 1 << 8 * kind.bytes, sum(sizes), dtype=np.uint64).astype(unsigned)
    addresses = [CHIP.ddr_base + (number << 24) for number in range(len(sizes) + 1)]
    program = Program(name="case", chip=CHIP.name, quantize="")
    emitter = Emitter(CHIP, program)
    size = case.expected.size
    carry_out(emitter, addresses[-1], addresses[:-1], case.sources, size, kind, case.fill)
    emitter.finish()
    machine = Machine(CHIP)
    start = 0
    for address, count in zip(addresses, sizes, strict=False):
        machine.memory.write(address, data[start : start + count])
        start += count
    machine.memory.write(addresses[-1], np.full(size, 0x55, unsigned))
    machine.run(program.tiu, program.gdma)
    found = machine.memory.read(addresses[-1], (size,), unsigned)
    border = 0 if case.fill is None else kind.bits(case.fill)
    flat = case.expected.reshape(-1)
    wanted = np.where(flat < 0, unsigned.type(border), data[np.maximum(flat, 0)])
    assert np.array_equal(found, wanted)
    return simulate(program.tiu, program.gdma, CHIP).total


@st.composite
def shapes(draw: st.DrawFn, least: int = 1, most: int = 6) -> tuple[int, ...]:
    """Of odd sizes, and not too many elements."""
    rank = draw(st.integers(least, most))
    sizes: list[int] = []
    for _ in range(rank):
        left = max(1, 20_000 // math.prod(sizes))
        sizes.append(
            draw(st.sampled_from([n for n in (1, 2, 3, 5, 7, 8, 13, 31, 67, 130) if n <= left]))
        )
    return tuple(draw(st.permutations(sizes)))


@st.composite
def permutes(draw: st.DrawFn) -> Case:
    shape = draw(shapes(2))
    order = draw(st.permutations(range(len(shape))))
    (x,) = numbers(shape)
    return Case([shape], [IndexMap.permuted(shape, order)], x.transpose(order))


@st.composite
def slices(draw: st.DrawFn) -> Case:
    shape = draw(shapes())
    cuts: list[slice] = []
    axes: list[tuple[Along, ...]] = []
    for size in shape:
        step = draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
        start = draw(st.integers(0, size - 1))
        room = (size - 1 - start) // step + 1 if step > 0 else start // -step + 1
        count = draw(st.integers(1, room))
        end = start + count * step
        cuts.append(slice(start, None if end < 0 else end, step))
        axes.append((Along(count, at=start, at_step=step),))
    (x,) = numbers(shape)
    taken = x[tuple(cuts)]
    return Case([shape], [rectangles(taken.shape, shape, axes)], taken)


@st.composite
def rolls(draw: st.DrawFn) -> Case:
    shape = draw(shapes(1, 4))
    offsets = [draw(st.integers(0, size - 1)) for size in shape]
    (x,) = numbers(shape)
    rolled = np.roll(x, [-offset for offset in offsets], range(x.ndim))
    return Case([shape], [IndexMap.rolled(shape, offsets)], rolled)


@st.composite
def pads(draw: st.DrawFn) -> Case:
    shape = draw(shapes(1, 4))
    mode = draw(st.sampled_from(["constant", "edge", "reflect"]))
    pairs: list[tuple[int, int]] = []
    for size in shape:
        most = 3 if mode != "reflect" else min(3, size - 1)
        pairs.append((draw(st.integers(0, most)), draw(st.integers(0, most))))
    (x,) = numbers(shape)
    if mode == "constant":
        padded = np.pad(x, pairs, constant_values=-1)
    else:
        padded = np.pad(x, pairs, "edge" if mode == "edge" else "reflect")
    ends = zip(shape, pairs, strict=True)
    axes = [padded_axis(size, *pair, mode) for size, pair in ends]
    fill = draw(st.sampled_from([0.0, 3.0])) if mode == "constant" else None
    return Case([shape], [rectangles(padded.shape, shape, axes)], padded, fill)


@st.composite
def tilings(draw: st.DrawFn) -> Case:
    shape = draw(shapes(1, 3))
    counts = [draw(st.integers(1, 4)) for _ in shape]
    (x,) = numbers(shape)
    target = [n for pair in zip(counts, shape, strict=True) for n in pair]
    source = [n for size in shape for n in (1, size)]
    axes = [(Along(n, at_step=number % 2),) for number, n in enumerate(target)]
    return Case([shape], [rectangles(target, source, axes)], np.tile(x, counts))


@st.composite
def joins(draw: st.DrawFn) -> Case:
    shape = draw(shapes(1, 4))
    axis = draw(st.integers(0, len(shape) - 1))
    lengths = [draw(st.sampled_from([1, 2, 5, 9])) for _ in range(draw(st.integers(2, 3)))]
    operands = [(*shape[:axis], n, *shape[axis + 1 :]) for n in lengths]
    joined = np.concatenate(numbers(*operands), axis)
    maps: list[IndexMap] = []
    start = 0
    for one in operands:
        axes = [(Along(n, to=start if a == axis else 0),) for a, n in enumerate(one)]
        maps.append(rectangles(joined.shape, one, axes))
        start += one[axis]
    return Case(operands, maps, joined)


@st.composite
def spread(draw: st.DrawFn) -> Case:
    """Zeros between elements, as a transposed convolution wants them."""
    shape, step = draw(shapes(2, 3)), draw(st.integers(2, 3))
    (x,) = numbers(shape)
    out = np.full((*shape[:-1], shape[-1] * step), -1)
    out[..., ::step] = x
    axes = [(Along(n, to_step=step if a == len(shape) - 1 else 1),) for a, n in enumerate(shape)]
    return Case([shape], [rectangles(out.shape, shape, axes)], out, 0.0)


@st.composite
def chains(draw: st.DrawFn) -> Case:
    """A slice of a permutation of a rolled array, as one map."""
    rolled = draw(rolls())
    shape = rolled.shapes[0]
    order = draw(st.permutations(range(len(shape))))
    turned = rolled.expected.transpose(order)
    cut = [draw(st.integers(1, size)) for size in turned.shape]
    axes = [(Along(n),) for n in cut]
    taken = turned[tuple(slice(0, n) for n in cut)]
    moves = rectangles(cut, turned.shape, axes).after(IndexMap.permuted(shape, order))
    return Case([shape], [moves.after(rolled.maps[0])], taken)


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(permutes(), slices(), rolls(), pads(), tilings(), joins(), spread(), chains()),
    st.sampled_from(KINDS),
)
def test_random_maps(case: Case, kind: DType) -> None:
    run(case, kind)


def test_a_last_tile_that_lies_in_order_goes_the_way_of_the_others() -> None:
    """An edge that is repeated three times, two at a time: the last one alone needs no copy."""
    rows = [(0, 0, (Digit(5, 24, 21), Digit(21, 1, 1))), (120, 84, (Digit(21, 1, 1),))]
    ends = [(21, 18, (Digit(5, 24, 21), Digit(3, 1, 1))), (141, 102, (Digit(3, 1, 1),))]
    once = [rows[0], ends[0], rows[1], ends[1]]
    boxes = [Box(to, at, digits) for to, at, digits in once]
    boxes += [Box(144 + to, at, (Digit(3, 144, 0), *digits)) for to, at, digits in once]
    (x,) = numbers((1, 5, 7, 3))
    edges = np.pad(x, ((0, 3), (0, 1), (0, 1), (0, 0)), mode="edge")
    run(Case([x.shape], [IndexMap(tuple(boxes))], edges), DType.F32)


LARGE = (
    ((2304, 2, 16, 2), (0, 2, 1, 3)),
    ((144, 256, 4), (2, 1, 0)),
    ((4, 256, 144), (2, 1, 0)),
    ((257, 3, 64), (1, 0, 2)),
    ((3, 3, 100, 104), (2, 0, 3, 1)),
    ((67, 5, 3, 4, 7, 11), (5, 0, 3, 1, 4, 2)),
    ((4000, 60), (1, 0)),
    ((1500, 131), (1, 0)),
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.label)
@pytest.mark.parametrize(("shape", "order"), LARGE, ids=str)
def test_permutes_in_many_tiles(
    shape: tuple[int, ...], order: tuple[int, ...], kind: DType
) -> None:
    (x,) = numbers(shape)
    case = Case([shape], [IndexMap.permuted(shape, order)], x.transpose(order))
    assert run(case, kind) == pytest.approx(
        movement_cycles(CHIP, case.sources, x.size, kind), rel=0.02, abs=100
    )


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(permutes(), slices(), rolls(), pads(), tilings(), joins(), spread(), chains()),
    st.sampled_from(KINDS),
)
def test_no_movement_takes_less_than_its_bound(case: Case, kind: DType) -> None:
    asked = CHIP, case.sources, case.expected.size, kind, case.fill
    assert least_cycles(*asked) <= movement_cycles(*asked)


@pytest.mark.parametrize(("shape", "order"), LARGE, ids=str)
def test_the_bound_of_a_large_movement_is_near(
    shape: tuple[int, ...], order: tuple[int, ...]
) -> None:
    """It counts both transfers at their full rate, and nothing of what copies take."""
    asked = CHIP, [Source(0, IndexMap.permuted(shape, order).boxes)], math.prod(shape), DType.F16
    assert 0.1 * movement_cycles(*asked) < least_cycles(*asked) <= movement_cycles(*asked)


def test_a_tile_that_is_stored_from_where_it_was_loaded_goes_before_the_next_one_comes() -> None:
    """No computation lies between: nothing but their order keeps loads from overtaking stores."""
    shape, pairs = (3, 130, 5), [(0, 2), (0, 1), (0, 3)]
    (x,) = numbers(shape)
    padded = np.pad(x, pairs, "reflect")
    axes = [padded_axis(size, *pair, "reflect") for size, pair in zip(shape, pairs, strict=True)]
    run(Case([shape], [rectangles(padded.shape, shape, axes)], padded), DType.F16)


def test_elements_are_widened_as_far_as_all_boxes_and_addresses_allow() -> None:
    """Rows of 6 bytes at multiples of 4 go as words of 2, those of 8 bytes as words of 4."""
    for columns, width in ((6, 2), (8, 4), (7, 1)):
        boxes = IndexMap.permuted((4, 4, columns), (1, 0, 2)).boxes
        found = widened([Source(0, boxes)], 1, 0x41, 16 * columns, [0, 1 << 12])
        assert found[1:] == (width, int("41" * width, 16), 16 * columns // width)
    assert widened([Source(0, boxes)], 1, None, 112, [2, 0])[1] == 1


def test_halves_that_alternate_are_one_job() -> None:
    """A loop of two elements: not 2-byte transfers, but runs of the whole result."""
    boxes = [Box(k, 0, (Digit(4096, 2, 1),)) for k in range(2)]
    moves = [Source(k, (box,)) for k, box in enumerate(boxes)]
    ways = list(jobs_of(moves, 2, None, 8192))
    assert [(2, 2)] in [[(job.region, len(job.parts)) for job in jobs] for jobs in ways]
    assert movement_cycles(CHIP, moves, 8192, DType.F16) < 3 * 16384 / CHIP.copy_bytes_per_cycle


def test_what_no_part_gives_keeps_regions_apart() -> None:
    """Without a border nothing may be written between the elements of a box."""
    box = Box(0, 0, (Digit(4096, 2, 1),))
    for jobs in jobs_of([Source(0, (box,))], 2, None, 8192):
        assert [job.region for job in jobs] == [1]
    with_border = list(jobs_of([Source(0, (box,))], 2, 0, 8192))
    assert [2] in [[job.region for job in jobs] for jobs in with_border]


def test_no_job_fills_what_another_one_makes() -> None:
    """A padded image of 33 x 33 whose rows and columns are dealt out by twos: the last row and
    column stand beside what the others make."""
    boxes = (
        Box(504, 0, (Digit(2, 26896, 33), Digit(2, 13448, 1), Digit(16, 41, 66), Digit(16, 1, 2))),
        Box(1160, 1056, (Digit(2, 13448, 1), Digit(16, 1, 2))),
        Box(520, 32, (Digit(2, 26896, 33), Digit(16, 41, 66))),
        Box(1176, 1088, ()),
    )
    wanted = sum(box.size for box in boxes)
    for jobs in jobs_of([Source(0, boxes)], 4, 0, 53792):
        made: set[int] = set()
        for job in jobs:
            ranges = [range(0, loop.extent * loop.to, loop.to) for loop in job.loops]
            own = {job.to + sum(at) + i for at in product(*ranges) for i in range(job.region)}
            assert len(own) == job.elements
            assert not made & own
            made |= own
        assert len(made) >= wanted


@pytest.mark.parametrize("kind", [DType.F16, DType.BF16])
@pytest.mark.parametrize(
    ("shape", "order"),
    [((7, 300), (1, 0)), ((9, 4, 24, 56), (2, 0, 3, 1)), ((3, 64, 65), (0, 1, 2)), ((4096,), (0,))],
)
def test_elements_are_cast_on_their_way(
    shape: tuple[int, ...], order: tuple[int, ...], kind: DType
) -> None:
    """Wherever they go, f32 of the same number; no copy within DDR can do that."""
    size, addresses = math.prod(shape), (CHIP.ddr_base, CHIP.ddr_base + (1 << 24))
    # Bits of finite numbers that are no smaller than the least normal one.
    bits = np.random.default_rng(1).integers(0x0400, 0x7800, shape, dtype=np.uint16)
    source = Source(0, IndexMap.permuted(shape, order).boxes)
    emitter = Emitter(CHIP, program := Program(name="case", chip=CHIP.name, quantize=""))
    ends = addresses[1], addresses[:1]
    carry_out(emitter, *ends, [source], size, kind, stored=DType.F32)
    emitter.finish()
    machine = Machine(CHIP)
    machine.memory.write(addresses[0], bits.reshape(-1))
    machine.run(program.tiu, program.gdma)
    found = machine.memory.read(addresses[1], (size,), np.float32)
    wide = bits.astype(np.uint32) << 16
    numbers = bits.view(np.float16) if kind is DType.F16 else wide.view(np.float32)
    wanted = numbers.astype(np.float32).transpose(order).reshape(-1)
    assert np.array_equal(found, wanted)
    cycles = movement_cycles(CHIP, [source], size, kind, stored=DType.F32)
    assert simulate(program.tiu, program.gdma, CHIP).total == pytest.approx(
        cycles, rel=0.02, abs=100
    )


def test_a_border_is_not_cast() -> None:
    with pytest.raises(DoesNotFit, match="border"):
        movement_cycles(CHIP, [], 64, DType.F16, 0.0, DType.F32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [0, 1])
def test_rows_of_a_prime_size_that_no_command_holds(kind: DType, first: int) -> None:
    """65,537 is the first one; a loop of it has no smaller ones."""
    shape, taken = (2, 65_538), (2, 65_537)
    (x,) = numbers(shape)
    axes = [(Along(2),), (Along(65_537, at=first),)]
    expected = x[:, first : first + 65_537]
    run(Case([shape], [rectangles(taken, shape, axes)], expected), kind)


def test_columns_of_a_prime_size_that_no_command_holds() -> None:
    (x,) = numbers((65_537, 3))
    run(Case([x.shape], [IndexMap.permuted(x.shape, (1, 0))], x.T), DType.F16)
