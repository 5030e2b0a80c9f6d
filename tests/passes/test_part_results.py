"""Results that are stored part by part: the same values, each part in its place, fewer cycles."""

from itertools import accumulate
from math import prod

import numpy as np
import pytest
from tests.kernels.harness import Case, Shape, check_encoding, execute, final

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.order import check_order
from xdsl_tpu.dialects.text import make_context, parse_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.address_assign.assign import address_of
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.tensors import functions

CAST = {"with_scale": "true", "round_mode": "#tpu<round_mode HalfAwayFromZero>"}


def heads(sizes: tuple[Shape, ...], whole: Shape, axis: int) -> Case:
    """A function of each part of its own, side by side, cast to f32."""
    case = Case("f16", seed=3)
    modes = ("EXP", "SIGMOID", "SILU")
    parts = [
        case.op(
            "tpu.Active",
            [case.input(f"x{n}", size)],
            {"mode": f"#tpu<active_mode {modes[n]}>"},
            f"a{n}",
            size,
        )
        for n, size in enumerate(sizes)
    ]
    joined = case.op("tpu.Concat", parts, {"axis": f"{axis} : si32"}, "c", whole)
    case.op("tpu.Cast", [joined], CAST, "y", whole, "f32")
    return case


@pytest.mark.parametrize(
    ("sizes", "whole", "axis"),
    [
        (((1, 4, 800), (1, 80, 800)), (1, 84, 800), 1),
        (((1, 128, 16, 16), (1, 3, 16, 16), (1, 64, 16, 16)), (1, 195, 16, 16), 1),
        (((2, 70, 64), (6, 70, 64)), (8, 70, 64), 0),
        (((1, 150, 91), (1, 3, 91), (1, 54, 91)), (1, 207, 91), 1),
    ],
)
def test_values_stay_the_same(sizes: tuple[Shape, ...], whole: Shape, axis: int) -> None:
    case, chip = heads(sizes, whole, axis), load_chip()
    (expected,) = run_module(case.module(), case.inputs).values()
    module = final(case)
    (join,) = (op for op in module.walk() if isinstance(op, tpu.JoinOp))
    starts = [address_of(part) - address_of(join.output) for part in join.inputs]
    assert starts == [4 * n for n in accumulate(map(prod, sizes[:-1]), initial=0)]
    program = generate(module, weights_of(module), chip)
    check_encoding(program)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late)
    assert np.allclose(early, expected, rtol=4e-3, atol=4e-3)


def test_what_is_large_is_stored_while_the_rest_is_computed() -> None:
    case, chip = heads(((1, 64, 64, 64), (1, 512, 64, 64)), (1, 576, 64, 64), 1), load_chip()
    cycles: list[int] = []
    for parts in (False, True):
        module = final(case, "" if parts else "part-results")
        program = generate(module, weights_of(module), chip)
        cycles.append(simulate(program.tiu, program.gdma, chip).total)
    assert cycles[1] < cycles[0]


def test_several_results_of_parts() -> None:
    """No part is made behind what joins it with others, whatever comes first."""
    text = """
    module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x",
        module.mode = "F16"} {
      func.func @main(%arg0: tensor<1x64x64xf16>) -> (tensor<1x8192xf32>, tensor<1x96x256xf32>) {
        %0 = "top.Input"(%arg0) : (tensor<1x64x64xf16>) -> tensor<1x64x64xf16> loc("x")
    """
    kinds = {"a": (64, 64), "b": (64, 64), "c": (64, 256), "d": (32, 256)}
    for name, (rows, columns) in kinds.items():
        kind = f"tensor<1x{rows}x{columns}xf16>"
        text += f"""
        %{name}0 = "tpu.Rearrange"(%0) {{boxes = [0, 0, 0, 1, {rows * columns}, 1, 0]}} :
            (tensor<1x64x64xf16>) -> {kind} loc("{name}0")
        %{name} = "tpu.Active"(%{name}0) {{mode = #tpu<active_mode EXP>}} :
            ({kind}) -> {kind} loc("{name}")
        """
    text += """
        %e = "tpu.Concat"(%a, %b) {axis = 1 : si32} :
            (tensor<1x64x64xf16>, tensor<1x64x64xf16>) -> tensor<1x128x64xf16> loc("e")
        %y = "tpu.Cast"(%e) : (tensor<1x128x64xf16>) -> tensor<1x128x64xf32> loc("y")
        %v = "tpu.Reshape"(%y) : (tensor<1x128x64xf32>) -> tensor<1x8192xf32> loc("v")
        %f = "tpu.Concat"(%c, %d) {axis = 1 : si32} :
            (tensor<1x64x256xf16>, tensor<1x32x256xf16>) -> tensor<1x96x256xf16> loc("f")
        %z = "tpu.Cast"(%f) : (tensor<1x96x256xf16>) -> tensor<1x96x256xf32> loc("z")
        return %v, %z : tensor<1x8192xf32>, tensor<1x96x256xf32>
      }
    }
    """
    module = parse_module(text)
    make_pass("part-results", "").apply(make_context(), module)
    module.verify()
    check_order(module, "after it")
    (func,) = functions(module)
    *_, first, view, second, end = func.body.block.ops
    assert [op.name for op in (first, view, second)] == ["tpu.Join", "tpu.Reshape", "tpu.Join"]
    assert list(end.operands) == [view.results[0], second.results[0]]
