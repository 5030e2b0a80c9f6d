"""Changes of shape that move among other ops leave the numbers as they are."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, parse_module
from xdsl_tpu.passes.pipeline import make_pass

SMALL, LARGE = "tensor<1x2x4xf16>", "tensor<1x8x2x4xf16>"
ROW = "tensor<1x1x2x4xf16>"


def network(*lines: str) -> ModuleOp:
    """Ops that follow each other; the last one's value `y` is returned."""
    body = "\n".join(lines)
    return parse_module(f"""
      func.func @main(%s: {SMALL} loc(unknown), %l: {LARGE} loc(unknown)) -> {LARGE} {{
        %small = "top.Input"(%s) : ({SMALL}) -> {SMALL} loc("small")
        %large = "top.Input"(%l) : ({LARGE}) -> {LARGE} loc("large")
        {body}
        return %y : {LARGE}
      }}""")


def scaled(out: str, value: str, kind: str, by: float) -> str:
    constant = f"{{const_val = {by} : f64}}"
    return f'%{out} = "tpu.MulConst"(%{value}) {constant} : ({kind}) -> {kind} loc("{out}")'


def viewed(out: str, value: str) -> str:
    return f'%{out} = "tpu.Reshape"(%{value}) : ({SMALL}) -> {ROW} loc("{out}")'


def product(out: str, left: str, right: str) -> str:
    kinds = f"({LARGE}, {ROW}) -> {LARGE}"
    return f'%{out} = "tpu.Mul"(%{left}, %{right}) : {kinds} loc("{out}")'


@pytest.mark.parametrize(
    ("lines", "order"),
    [
        (  # that of an input goes to the beginning, the other one behind what is small
            (
                scaled("b", "small", SMALL, 2.0),
                scaled("h", "large", LARGE, 3.0),
                viewed("br", "b"),
                product("m", "h", "br"),
                viewed("sr", "small"),
                product("y", "m", "sr"),
            ),
            ["sr", "b", "br", "h", "m", "y"],
        ),
        (  # ways that have no place in common: what the second view needs goes to the first
            (
                scaled("h", "large", LARGE, 3.0),
                scaled("b", "small", SMALL, 2.0),
                viewed("br", "b"),
                product("m", "h", "br"),
                scaled("c", "small", SMALL, 5.0),
                scaled("n", "m", LARGE, 3.0),
                viewed("cr", "c"),
                product("y", "n", "cr"),
            ),
            ["h", "b", "c", "br", "cr", "m", "n", "y"],
        ),
        (  # between the views, what is made of the first makes the second; `n` needs neither
            (
                scaled("h", "large", LARGE, 3.0),
                scaled("b", "small", SMALL, 2.0),
                viewed("br", "b"),
                f'%t = "tpu.MulConst"(%br) {{const_val = 2.0 : f64}} : ({ROW}) -> {ROW} loc("t")',
                product("m", "h", "t"),
                f'%tr = "tpu.Reshape"(%t) : ({ROW}) -> {SMALL} loc("tr")',
                scaled("c", "tr", SMALL, 5.0),
                scaled("n", "m", LARGE, 3.0),
                viewed("cr", "c"),
                product("y", "n", "cr"),
            ),
            ["h", "b", "br", "t", "m", "n", "tr", "c", "cr", "y"],
        ),
        (  # as many bytes would be stored and loaded: all stay
            (
                viewed("br", "small"),
                scaled("c", "small", SMALL, 5.0),
                viewed("cr", "c"),
                product("m", "large", "br"),
                product("y", "m", "cr"),
            ),
            ["br", "c", "cr", "m", "y"],
        ),
    ],
)
def test_order(lines: tuple[str, ...], order: list[str]) -> None:
    module = network(*lines)
    rng = np.random.default_rng(0)
    inputs = {
        "small": rng.standard_normal((1, 2, 4)).astype(np.float32),
        "large": rng.standard_normal((1, 8, 2, 4)).astype(np.float32),
    }
    (before,) = run_module(module, inputs).values()
    make_pass("op-reorder").apply(make_context(), module)
    module.verify()
    (after,) = run_module(module, inputs).values()
    assert np.array_equal(before, after)
    kinds = (tpu.MulConstOp, tpu.ReshapeOp, tpu.MulOp)
    assert [name_of(op) for op in module.walk() if isinstance(op, kinds)] == order
