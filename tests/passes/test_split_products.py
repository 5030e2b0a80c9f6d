"""Products with large matrices, some columns at a time: the same numbers, earlier."""

from itertools import pairwise

import numpy as np
import pytest
from tests.passes.semantics import Net, compiled, ops_of
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipelines import lower
from xdsl_tpu.passes.tensors import shape_of

LOWERING = "convert-top-to-tpu{mode=F16 chip=bm1684x}"
ALWAYS = "split-products{when=always}"


def products(depths: tuple[int, ...], rows: int = 70, biased: bool = True) -> ModuleOp:
    """Products with matrices of each two depths, GELU between them."""
    net = Net()
    value: SSAValue = net.input("x", 1, rows, depths[0])
    for number, (depth, columns) in enumerate(pairwise(depths)):
        random = np.random.default_rng(number)
        numbers = random.standard_normal((depth, columns)) / np.sqrt(depth)
        weight = net.weight(f"w{number}", depth, columns, values=numbers)
        bias = net.weight(f"b{number}", columns) if biased else net.none
        if number:
            value = net.op(top.GELUOp, f"gelu{number}", (value,))
        value = net.op(top.MatMulOp, f"y{number}", (value, weight, bias), do_relu=number == 0)
    return net.module(value)


@pytest.mark.parametrize("biased", [False, True])
def test_the_same_numbers(biased: bool) -> None:
    before = compiled(products((512, 4096, 512), biased=biased), LOWERING)
    after = compiled(before, ALWAYS)
    assert [shape_of(op.output)[-1] for op in ops_of(after, tpu.MatMulOp)] == [2048] * 2 + [256] * 2
    assert len(ops_of(after, tpu.ConcatOp)) == 2
    names = {name for name in weights_of(after) if name.startswith("w")}
    assert len(names) == 4
    x = np.random.default_rng(7).standard_normal((1, 70, 512)).astype(np.float32)
    wanted, found = (run_module(one, {"x": x}) for one in (before, after))
    # BLAS adds in another order where there are fewer columns.
    np.testing.assert_allclose(found["y1_f32"], wanted["y1_f32"], rtol=0, atol=2e-3)


def test_what_is_small_or_lies_beside_what_comes_next_stays() -> None:
    small = compiled(products((512, 2048, 512)), f"{LOWERING},{ALWAYS}")
    assert len(ops_of(small, tpu.MatMulOp)) == 2
    alone = compiled(products((512, 4096, 64)), f"{LOWERING},{ALWAYS}")
    assert len(ops_of(alone, tpu.MatMulOp)) == 2


def test_the_last_part_may_have_fewer_columns() -> None:
    """4,100 are no multiple of 32."""
    before = compiled(products((512, 4100, 512)), LOWERING)
    after = compiled(before, ALWAYS)
    widths = [shape_of(op.output)[-1] for op in ops_of(after, tpu.MatMulOp)]
    assert widths == [1376, 1376, 1348, *[128] * 4]
    x = np.random.default_rng(7).standard_normal((1, 70, 512)).astype(np.float32)
    wanted, found = (run_module(one, {"x": x}) for one in (before, after))
    np.testing.assert_allclose(found["y1_f32"], wanted["y1_f32"], rtol=0, atol=2e-3)


def test_a_matrix_of_two_products_is_kept_for_the_other() -> None:
    net = Net()
    weight = net.weight("w", 512, 4096)
    y = [net.op(top.MatMulOp, f"y{n}", (net.input(n, 1, 70, 512), weight, net.none)) for n in "ab"]
    after = compiled(net.module(*y), f"{LOWERING},{ALWAYS}")
    assert len(ops_of(after, tpu.MatMulOp)) == 4
    assert "w" not in {name.split("_")[0] for name in weights_of(after) if "part" not in name}


def cycles(module: ModuleOp, *disabled: str) -> int:
    chip = load_chip()
    lower(module, "F16", "bm1684x", disabled)
    program = generate(module, weights_of(module), chip)
    return simulate(program.tiu, program.gdma, chip).total


def test_matrices_come_while_others_are_used() -> None:
    """Of three products with matrices of 7 and 8 MiB, no two of which fit local memory."""
    depths = (1024, 4096, 1024, 4096)
    whole = cycles(products(depths, 256), "split-products")
    assert cycles(products(depths, 256)) < 0.75 * whole


def test_several_cores_share_them_as_they_are() -> None:
    module = compiled(products((512, 4096, 512)), LOWERING)
    module.attributes["module.cores"] = IntegerAttr(2, i64)
    assert len(ops_of(compiled(module, ALWAYS), tpu.MatMulOp)) == 2
