"""Movement between ops of a group: the same values, and fewer cycles."""

from itertools import pairwise

import numpy as np
import pytest
from tests.kernels.harness import Case, Outcome, check_encoding, execute, final
from tests.local.groups import assert_close

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.lane_moves import (
    apart,
    lane_copies,
    lane_steps,
    lane_way,
    rows_of,
    seen_by,
)
from xdsl_tpu.dialects.interfaces.movement import Moved, Movement
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.measured import cut_out
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import STAGES
from xdsl_tpu.passes.tensors import shape_of

Shape = tuple[int, ...]


def block(side: int, size: int, channels: int, offset: int) -> Case:
    """Windows of a turned image, something done to them, and back to an image that is added."""
    case = Case("f16", seed=3)
    count, pixels = side // size, side * side
    image, square = (1, pixels, channels), (1, side, side, channels)
    parts, windows = (1, count, size, count, size, channels), (count * count, size * size, channels)
    turned = (1, count, count, size, size, channels)
    x = case.op("tpu.Relu", [case.input("x", image)], {}, "a", image)
    back = (side - offset) % side

    def reshape(value: str, name: str, shape: Shape) -> str:
        return case.op("tpu.Reshape", [value], {"shape": str(list(shape))}, name, shape)

    def permute(value: str, name: str, shape: Shape) -> str:
        order = {"order": "[0, 1, 3, 2, 4, 5]"}
        return case.op("tpu.Permute", [value, "none"], order, name, shape)

    def swap(value: str, name: str, by: int) -> str:
        return case.op("tpu.SwapDimInner", [value], {"offset": f"[0, {by}, {by}, 0]"}, name, square)

    y = reshape(x, "b", square)
    y = swap(y, "c", offset) if offset else y
    y = reshape(permute(reshape(y, "d", parts), "e", turned), "f", windows)
    y = case.op("tpu.Relu", [y], {}, "g", windows)
    y = reshape(permute(reshape(y, "h", turned), "i", parts), "j", square)
    y = reshape(swap(y, "k", back) if offset else y, "l", image)
    case.op("tpu.Add", [x, y], {}, "y", image)
    return case


@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize(("side", "size"), [(28, 7), (32, 8)])
def test_windows_stay_on_the_chip(side: int, size: int, offset: int) -> None:
    case, chip = block(side, size, 96, offset), load_chip()
    (expected,) = run_module(case.module(), case.inputs).values()
    cycles: list[int] = []
    for off in ("", "lane-moves"):
        module = final(case, off)
        inside = [op for op in module.walk() if isinstance(op, tpu.RearrangeOp) and op.ginfo]
        assert len(inside) == (0 if off else 2)
        program = generate(module, weights_of(module), chip)
        check_encoding(program)
        early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
        assert np.array_equal(early, late)
        cycles.append(simulate(program.tiu, program.gdma, chip).total)
        assert_close(Outcome(early, np.asarray(expected), program, cycles[-1]))
    assert 1.5 * cycles[0] < cycles[1]


@pytest.mark.parametrize("offset", [0, 3])
def test_what_is_moved_twice_in_the_same_way_is_moved_once(offset: int) -> None:
    """`offset`: the second one is another part of the value."""
    case, image, parts = Case("f16", seed=3), (1, 784, 96), (1, 4, 7, 4, 7, 96)
    turned, windows = (1, 4, 4, 7, 7, 96), (16, 49, 96)
    x = case.op("tpu.Relu", [case.input("x", image)], {}, "a", image)
    made: list[str] = []
    for number, first in enumerate((0, offset)):
        swap = {"offset": f"[0, {first}, 0]"}
        y = case.op("tpu.SwapDimInner", [x], swap, f"s{number}", image) if first else x
        y = case.op("tpu.Reshape", [y], {"shape": str(list(parts))}, f"p{number}", parts)
        order = {"order": "[0, 1, 3, 2, 4, 5]"}
        y = case.op("tpu.Permute", [y, "none"], order, f"t{number}", turned)
        y = case.op("tpu.Reshape", [y], {"shape": str(list(windows))}, f"w{number}", windows)
        made.append(case.op("tpu.Relu", [y], {}, f"r{number}", windows))
    case.op("tpu.Add", made, {}, "y", windows)
    module = case.module()
    (before,) = run_module(module, case.inputs).values()
    make_pass("lane-moves", "").apply(make_context(), module)
    module.verify()
    (after,) = run_module(module, case.inputs).values()
    assert np.array_equal(before, after)
    moved = [op for op in module.walk() if isinstance(op, tpu.RearrangeOp)]
    assert len(moved) == (2 if offset else 1)


@pytest.mark.parametrize("mode", ["ReduceMean", "ReduceSum", "ReduceMax"])
@pytest.mark.parametrize("shape", [(1, 196, 56), (1, 7, 9, 130), (3, 70, 40)], ids=str)
def test_rows_are_reduced_on_the_chip(shape: Shape, mode: str) -> None:
    """Rows are normalised one by one, so that they lie over the lanes."""
    case = Case("f16", seed=4)
    norm = {"axis": f"{len(shape) - 1} : si32", "eps": "1.0e-5 : f64"}
    norm["normalized_shape"] = str([shape[-1]])
    given = [case.input("x", shape), *["none"] * 4]
    x = case.op("tpu.LayerNorm", given, norm, "a", shape)
    assert len(reduced(case, x, shape, mode)) == 2


@pytest.mark.parametrize("mode", ["ReduceL2", "ReduceSum"])
def test_a_column_is_reduced_on_the_chip(mode: str) -> None:
    """It becomes a number, which is where it is wanted already."""
    case, shape = Case("f16", seed=4), (1, 300, 1)
    x = case.op("tpu.Relu", [case.input("x", (1, 300, 48))], {}, "a", (1, 300, 48))
    filters = case.weight("w", (1, 48, 1))
    x = case.op("tpu.MatMul", [x, filters, *["none"] * 3], {}, "p", shape)
    assert len(reduced(case, x, shape, mode)) == 1


@pytest.mark.parametrize("mode", ["ReduceL2", "ReduceMean", "ReduceMax"])
def test_many_rows_are_reduced_in_two_steps(mode: str) -> None:
    """Local memory does not hold them beside what they are turned to."""
    case, shape = Case("f16", seed=4), (1, 4160, 1024)
    x = case.op("tpu.Relu", [case.input("x", shape)], {}, "a", shape)
    assert not reduced(case, x, shape, mode)


def reduced(case: Case, x: str, shape: Shape, mode: str) -> list[tpu.RearrangeOp]:
    """Multiply a value by what all its rows become, and run it; the movements within groups."""
    chip = load_chip()
    axes, one = list(range(1, len(shape) - 1)), (shape[0], *[1] * (len(shape) - 2), shape[-1])
    how = {"axes": str(axes), "keepdims": "true", "mode": f'"{mode}"'}
    y = case.op("tpu.Reduce", [x, "none", "none"], how, "b", one)
    case.op("tpu.Mul", [x, y], {}, "y", shape)
    (expected,) = run_module(case.module(), case.inputs).values()
    module = final(case)
    program = generate(module, weights_of(module), chip)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late)
    cycles = simulate(program.tiu, program.gdma, chip).total
    assert_close(Outcome(early, np.asarray(expected), program, cycles))
    return [op for op in module.walk() if isinstance(op, tpu.RearrangeOp) and op.ginfo]


def heads(source: Shape, moves: IndexMap, target: Shape) -> Case:
    """Something done to both sides of a movement."""
    case = Case("f16", seed=5)
    boxes = tpu.RearrangeOp.listed(Movement(int(np.prod(target)), (Moved(0, moves),)))
    x = case.op("tpu.Relu", [case.input("x", source)], {}, "a", source)
    x = case.op("tpu.Rearrange", [x], {"boxes": str(boxes)}, "b", target)
    case.op("tpu.Relu", [x], {}, "y", target)
    return case


IMAGE_TO_HEADS = IndexMap.permuted((8, 40, 49), (0, 2, 1))
HEADS_TO_IMAGE = IndexMap.permuted((8, 49, 40), (0, 2, 1))


@pytest.mark.parametrize(
    ("source", "moves", "target"),
    [
        ((1, 320, 7, 7), IMAGE_TO_HEADS, (1, 8, 49, 40)),
        ((1, 8, 49, 40), HEADS_TO_IMAGE, (1, 320, 7, 7)),
    ],
    ids=["to heads", "to an image"],
)
def test_two_steps(source: Shape, moves: IndexMap, target: Shape) -> None:
    chip, case = load_chip(), heads(source, moves, target)
    steps = lane_steps(moves, rows_of(source), rows_of(target))
    assert steps is not None
    assert steps[1].moves.after(steps[0].moves) == moves
    (expected,) = run_module(case.module(), case.inputs).values()
    module = case.module()
    for step in ("lane-moves", *STAGES["final"]):
        if step not in ("place-values", "order-rows"):
            make_pass(step, "").apply(make_context(), module)
    inside = [op for op in module.walk() if isinstance(op, tpu.RearrangeOp) and op.ginfo]
    assert len(inside) == 2
    program = generate(module, weights_of(module), chip)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late)
    cycles = simulate(program.tiu, program.gdma, chip).total
    assert_close(Outcome(early, np.asarray(expected), program, cycles))


@pytest.mark.parametrize(("heads", "rows", "side"), [(4, 64, 7), (4, 21, 6), (8, 128, 7)])
def test_products_of_heads_stay_on_the_chip(heads: int, rows: int, side: int) -> None:
    """Between images whose channels are the heads' rows."""
    chip, case, pixels = load_chip(), Case("f16", seed=6), side * side
    image, parts = (1, heads * rows, side, side), (1, heads, rows, pixels)
    x = case.op("tpu.Relu", [case.input("x", image)], {}, "a", image)
    y = case.op("tpu.Reshape", [x], {"shape": str(list(parts))}, "b", parts)
    scores = case.input("scores", (1, heads, pixels, pixels))
    y = case.op("tpu.MatMul", [y, scores, *["none"] * 3], {}, "c", parts)
    y = case.op("tpu.Reshape", [y], {"shape": str(list(image))}, "d", image)
    pool = {"kernel_shape": "[3, 3]", "strides": "[1, 1]", "pads": "[1, 1, 1, 1]"}
    y = case.op("tpu.Pool2D", [y], {**pool, "pool_mode": "#tpu<pool_mode Max>"}, "e", image)
    case.op("tpu.Add", [y, x], {}, "y", image)
    (expected,) = run_module(case.module(), case.inputs).values()
    module = case.module()
    for step in STAGES["final"]:
        options = "in_lanes=true" if step == "place-values" else ""
        make_pass(step, options).apply(make_context(), module)
    inside = [op for op in module.walk() if isinstance(op, tpu.RearrangeOp) and op.ginfo]
    assert len(inside) == 2
    program = generate(module, weights_of(module), chip)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late)
    cycles = simulate(program.tiu, program.gdma, chip).total
    assert_close(Outcome(early, np.asarray(expected), program, cycles))


@pytest.mark.parametrize("rows", [3136, 784])
def test_a_row_before_all_others_comes_and_goes_on_the_chip(rows: int) -> None:
    """So that every row is in another lane than before."""
    case, chip, width = Case("f16", seed=7), load_chip(), 64
    norm = {"axis": "2 : si32", "eps": "1.0e-5 : f64", "normalized_shape": f"[{width}]"}
    given = [case.input("token", (1, 1, width)), case.input("x", (1, rows, width))]
    token, x = (
        case.op("tpu.LayerNorm", [one, *["none"] * 4], norm, name, shape)
        for one, name, shape in zip(given, "ab", [(1, 1, width), (1, rows, width)], strict=True)
    )
    y = case.op("tpu.Concat", [token, x], {"axis": "1 : si32"}, "c", (1, rows + 1, width))
    y = case.op("tpu.LayerNorm", [y, *["none"] * 4], norm, "d", (1, rows + 1, width))
    cut = {"offset": "[0, 1, 0]", "steps": "[1, 1, 1]", "ends": f"[1, {rows + 1}, {width}]"}
    y = case.op("tpu.Slice", [y, *["none"] * 4], cut, "e", (1, rows, width))
    case.op("tpu.Add", [x, y], {}, "y", (1, rows, width))
    (expected,) = run_module(case.module(), case.inputs).values()
    module = final(case)
    assert len([op for op in module.walk() if isinstance(op, tpu.GroupOp)]) == 1
    program = generate(module, weights_of(module), chip)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late)
    cycles = simulate(program.tiu, program.gdma, chip).total
    assert_close(Outcome(early, np.asarray(expected), program, cycles))


@pytest.mark.parametrize("seed", range(60))
def test_copies_move_every_element(seed: int) -> None:
    """What a way says of lanes and positions is what the movement does, element by element."""
    random = np.random.default_rng(seed)
    parts = tuple(int(n) for n in random.integers(1, 7, size=5))
    order = tuple(int(n) for n in random.permutation(5))
    moves = IndexMap.permuted(parts, order)
    if seed % 2:
        offsets = [int(n) for n in random.integers(0, 4, size=5)]
        moves = moves.after(IndexMap.rolled(parts, offsets))
    cut = sorted(int(n) for n in random.integers(0, 6, size=2))
    made = tuple(parts[axis] for axis in order)

    def shape(sizes: Shape) -> Shape:
        ends = (0, *cut, 5)
        return tuple(int(np.prod(sizes[a:b])) for a, b in pairwise(ends))

    source, target = rows_of(shape(parts)), rows_of(shape(made))
    way = lane_way(moves, source, target)
    if way is None:
        return
    distance = apart(source, target)
    sides = seen_by(source, way.source), seen_by(target, way.target)
    copies = lane_copies(moves, *sides, distance)
    assert copies is not None

    def element(side: int, lane: int, position: int) -> int:
        rows, turned = (source, way.source) if side == 0 else (target, way.target)
        if turned:
            return position * turned + lane
        image, inner = divmod(position, rows.run)
        return (image * rows.c + lane) * rows.run + inner

    found: dict[int, int] = {}
    for copy in copies:
        grid = np.ndindex(*(digit.extent for digit in copy.digits))
        for index in grid:
            to = copy.to + sum(i * d.to for i, d in zip(index, copy.digits, strict=True))
            at = copy.at + sum(i * d.at for i, d in zip(index, copy.digits, strict=True))
            for lane in range(copy.first, copy.first + copy.lanes):
                found[element(1, lane, to)] = element(0, lane, at)
    assert found == {to: at for box in moves.boxes for to, at in box.points()}


@pytest.mark.parametrize("shape", [(1, 2100, 4), (1, 4200, 10), (1, 512, 5)], ids=str)
def test_short_rows_are_stored_evenly(shape: Shape) -> None:
    """The same values, and fewer cycles than rows of a few bytes take."""
    chip, case = load_chip(), Case("f16", seed=7)
    x = case.input("x", (*shape[:2], 48))
    product_of_rows(case, x, shape, 48)
    compared(case, chip)


@pytest.mark.parametrize("shape", [(1, 2048, 3), (1, 512, 5), (1, 320, 4), (1, 2100, 4)], ids=str)
def test_short_rows_come_evenly(shape: Shape) -> None:
    """The same values, and fewer cycles than rows of a few bytes take."""
    chip, case = load_chip(), Case("f16", seed=7)
    x = case.input("x", shape)
    product_of_rows(case, x, (*shape[:2], 48), shape[2])
    compared(case, chip)


def test_what_a_group_stores_comes_evenly() -> None:
    """Scores of two classes, whose columns were channels: nothing moves them to rows in local
    memory, and a Reshape that moves data across lanes is behind what may."""
    case, shape = Case("f16", seed=7), (1, 3200, 2)
    value = case.op("tpu.Relu", [case.input("x", (1, 8, 800))], {}, "a", (1, 8, 800))
    steps = (
        ("Reshape", (4, 2, 16, 50)),
        ("Permute", (4, 16, 50, 2)),
        ("Reshape", (1, 4, 1600)),
        ("Permute", (1, 1600, 4)),
        ("Reshape", shape),
    )
    for number, (kind, made) in enumerate(steps):
        order = "[0, 2, 3, 1]" if len(made) == 4 else "[0, 2, 1]"
        attribute = {"order": order} if kind == "Permute" else {"shape": str(list(made))}
        operands = [value, "none"] if kind == "Permute" else [value]
        value = case.op(f"tpu.{kind}", operands, attribute, f"v{number}", made)
    case.op("tpu.Softmax", [value, *["none"] * 5], {"axis": "2 : si32"}, "y", shape)
    module = case.module()
    (before,) = run_module(module, case.inputs).values()
    make_pass("lane-moves", "").apply(make_context(), module)
    (after,) = run_module(module, case.inputs).values()
    assert np.array_equal(before, after)
    (softmax,) = (op for op in module.walk() if isinstance(op, tpu.SoftmaxOp))
    moved = softmax.input.owner
    assert isinstance(moved, tpu.RearrangeOp)
    assert shape_of(moved.inputs[0])[:2] == (1, 64)


def product_of_rows(case: Case, x: str, result: Shape, inner: int) -> None:
    """By a turned matrix, which takes a row of each lane only."""
    filters = case.weight("w", (1, result[2], inner))
    operands = [x, filters, *["none"] * 3]
    case.op("tpu.MatMul", operands, {"right_transpose": "true"}, "y", result)


def compared(case: Case, chip: Chip) -> None:
    """With and without one movement within a group."""
    (expected,) = run_module(case.module(), case.inputs).values()
    cycles: list[int] = []
    for off in ("", "lane-moves"):
        module = final(case, off)
        inside = [op for op in module.walk() if isinstance(op, tpu.RearrangeOp) and op.ginfo]
        assert len(inside) == (0 if off else 1)
        program = generate(module, weights_of(module), chip)
        early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
        assert np.array_equal(early, late)
        cycles.append(simulate(program.tiu, program.gdma, chip).total)
        assert_close(Outcome(early, np.asarray(expected), program, cycles[-1]))
    assert cycles[0] < cycles[1]


def test_parts_are_measured_with_what_they_are_given_as_it_is() -> None:
    """What a part of a network is given need not be in DDR where the part is."""
    case = Case("f16", seed=8)
    filters = case.weight("w", (1, 3, 48))
    given = [case.input("x", (1, 2048, 3)), filters, *["none"] * 3]
    case.op("tpu.MatMul", given, {}, "y", (1, 2048, 48))
    module = case.module()
    products = [op for op in module.walk() if isinstance(op, tpu.MatMulOp)]
    part = cut_out(products, "part")
    for one, moved in ((module, True), (part, False)):
        make_pass("lane-moves", "").apply(make_context(), one)
        assert any(isinstance(op, tpu.RearrangeOp) for op in one.walk()) == moved
