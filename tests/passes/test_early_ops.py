"""Ops that `op-reorder` puts early, and joins that prevent each other: the same numbers."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context, parse_module
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.tensors import required_name

ROW, ROWS = "tensor<32xf16>", "tensor<32x512xf16>"
LONG, LARGE = "tensor<64xf16>", "tensor<64x512xf16>"
RNG = np.random.default_rng(2)


def network(inputs: dict[str, str], lines: list[str], result: str) -> ModuleOp:
    """A function of some inputs that returns `y`."""
    arguments = ", ".join(f"%in_{name}: {kind} loc(unknown)" for name, kind in inputs.items())
    read = [
        f'%{name} = "top.Input"(%in_{name}) : ({kind}) -> {kind} loc("{name}")'
        for name, kind in inputs.items()
    ]
    body = "\n".join(['%none = "top.None"() : () -> none', *read, *lines])
    text = f"func.func @main({arguments}) -> {result} {{\n{body}\nreturn %y : {result}\n}}"
    return parse_module(text)


def scaled(out: str, value: str, kind: str, by: float = 1.0) -> str:
    constant = f"{{const_val = {by} : f64}}"
    return f'%{out} = "tpu.MulConst"(%{value}) {constant} : ({kind}) -> {kind} loc("{out}")'


def gathered(out: str, table: str, rows: str, kinds: tuple[str, str]) -> str:
    """Rows of a table, `kinds` being its type and the result's."""
    types = f"({kinds[0]}, {ROW}, none) -> {kinds[1]}"
    values = f"(%{table}, %{rows}, %none)"
    return f'%{out} = "tpu.Gather"{values} {{axis = 0 : si32}} : {types} loc("{out}")'


def reordered(module: ModuleOp, inputs: dict[str, np.ndarray]) -> list[str]:
    """The names of the ops behind the pass, which leaves all numbers as they are."""
    given = {name: array.astype(np.float32) for name, array in inputs.items()}
    (before,) = run_module(module, given).values()
    make_pass("op-reorder").apply(make_context(), module)
    module.verify()
    (after,) = run_module(module, given).values()
    assert np.array_equal(before, after)
    named = (op for op in module.walk() if op.name.startswith("tpu."))
    return [required_name(op) for op in named]


def test_masks_are_made_first() -> None:
    lines = [
        scaled("b", "x", LARGE),
        scaled("m", "mask", "tensor<1x512xf16>", 3.0),
        scaled("c", "b", LARGE, 2.0),
        scaled("n", "m", "tensor<1x512xf16>", 2.0),
        f'%y = "tpu.Add"(%c, %n) : ({LARGE}, tensor<1x512xf16>) -> {LARGE} loc("y")',
    ]
    module = network({"x": LARGE, "mask": "tensor<1x512xf16>"}, lines, LARGE)
    inputs = {"x": RNG.standard_normal((64, 512)), "mask": RNG.standard_normal((1, 512))}
    assert reordered(module, inputs) == ["m", "n", "b", "c", "y"]


def test_what_is_made_of_large_values_stays() -> None:
    row = "tensor<64x1xf16>"
    lines = [
        scaled("b", "x", LARGE),
        '%r = "tpu.Reduce"(%b, %none, %none) {axes = [1], keepdims = true, mode = "ReduceMax"} : '
        f'({LARGE}, none, none) -> {row} loc("r")',
        scaled("c", "b", LARGE, 2.0),
        scaled("s", "r", row, 2.0),
        f'%y = "tpu.Add"(%c, %s) : ({LARGE}, {row}) -> {LARGE} loc("y")',
    ]
    module = network({"x": LARGE}, lines, LARGE)
    assert reordered(module, {"x": RNG.standard_normal((64, 512))}) == ["b", "r", "c", "s", "y"]


@pytest.mark.parametrize("is_read", [False, True])
def test_moves_stand_behind_makers(is_read: bool) -> None:
    """Where something else reads what is moved, the move stays where its result is wanted."""
    whole, turned = "tensor<1x64x512xf16>", "tensor<1x512x64xf16>"
    kinds = f"({whole}, none) -> {turned}"
    both = f"({turned}, {turned}) -> {turned}"
    lines = [
        scaled("v", "x", whole, 2.0),
        scaled("b", "z", turned, 3.0),
        f'%p = "tpu.Permute"(%v, %none) {{order = [0, 2, 1]}} : {kinds} loc("p")',
        f'%y = "tpu.Add"(%b, %p) : {both} loc("y")',
    ]
    if is_read:
        lines.insert(2, scaled("c", "v", whole, 3.0))
    module = network({"x": whole, "z": turned}, lines, turned)
    inputs = {
        name: RNG.standard_normal(shape)
        for name, shape in (("x", (1, 64, 512)), ("z", (1, 512, 64)))
    }
    order = reordered(module, inputs)
    assert (order.index("p") == order.index("v") + 1) is not is_read


def test_the_join_that_saves_more_is_done() -> None:
    """Both Gathers of rows one behind the other; that of numbers by itself."""
    lines = [
        scaled("f", "i", ROW),
        gathered("g", "s", "i", (LONG, ROW)),
        scaled("a", "f", ROW, 2.0),
        gathered("h", "t", "a", (LARGE, ROWS)),
        scaled("c", "h", ROWS, 3.0),
        scaled("k", "g", ROW, 1.0),
        gathered("j", "t", "k", (LARGE, ROWS)),
        f'%z = "tpu.Add"(%c, %j) : ({ROWS}, {ROWS}) -> {ROWS} loc("z")',
        f'%y = "tpu.Concat"(%z, %z) {{axis = 0 : si32}} : ({ROWS}, {ROWS}) -> {LARGE} loc("y")',
    ]
    module = network({"t": LARGE, "s": LONG, "i": ROW}, lines, LARGE)
    inputs = {
        "t": RNG.standard_normal((64, 512)),
        "s": RNG.integers(0, 64, 64),
        "i": RNG.integers(0, 32, 32),
    }
    order = reordered(module, inputs)
    assert order.index("j") == order.index("h") + 1 < order.index("c")


@pytest.mark.parametrize(
    ("columns", "order"), [(65552, ["b", "w", "v", "y"]), (65536, ["w", "b", "v", "y"])]
)
def test_what_gets_too_wide_waits_for_its_reader(columns: int, order: list[str]) -> None:
    narrow, wide = (f"tensor<64x{columns}x{kind}>" for kind in ("f16", "f32"))
    lines = [
        f'%w = "tpu.Cast"(%x) : ({narrow}) -> {wide} loc("w")',
        scaled("b", "z", narrow, 3.0),
        f'%v = "tpu.Cast"(%b) : ({narrow}) -> {wide} loc("v")',
        f'%y = "tpu.Add"(%v, %w) : ({wide}, {wide}) -> {wide} loc("y")',
    ]
    module = network({"x": narrow, "z": narrow}, lines, wide)
    inputs = {name: RNG.normal(size=(64, columns)) for name in "xz"}
    assert reordered(module, inputs) == order
