"""`WideProduct`: what a network returns of a product is what the unit has summed in f32."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.builtin import ModuleOp, f32

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.passes.tensors import element_of


def scores(mode: str, biased: bool, relu: bool = False) -> ModuleOp:
    """The product at the end of a network, lowered and optimised; the numbers stay."""
    net = Net()
    x = net.input("x", 70, 64)
    bias = net.weight("b", 96) if biased else net.none
    product = net.op(top.MatMulOp, "y", (x, net.weight("w", 64, 96), bias), do_relu=relu)
    return assert_same_numbers(
        net.module(product),
        f"convert-top-to-tpu{{mode={mode} chip=bm1684x}},processor-tpu-optimize",
        tolerance={"F16": 4e-3, "BF16": 8e-2, "F32": 1e-5}[mode],
    )


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("mode", ["F16", "BF16"])
def test_returned_products_are_f32(mode: str, biased: bool, relu: bool) -> None:
    module = scores(mode, biased, relu)
    (product,) = ops_of(module, tpu.MatMulOp)
    assert element_of(product.results[0]) == f32
    casts = [op for op in ops_of(module, tpu.CastOp) if element_of(op.results[0]) == f32]
    assert not casts


@pytest.mark.parametrize("turned", [False, True])
def test_products_under_another_shape_or_order_are_f32(turned: bool) -> None:
    """As the output matrix of a language model: the weight comes first."""
    net = Net()
    x = net.input("x", 1, 64)
    operands = (net.weight("w", 96, 64), x, net.none)
    column = net.op(top.MatMulOp, "column", operands, right_transpose=True)
    if turned:
        out = net.op(top.PermuteOp, "y", (column,), order=(1, 0))
    else:
        out = net.op(top.ReshapeOp, "y", (column,), shape=(1, 96))
    module = assert_same_numbers(
        net.module(out),
        "convert-top-to-tpu{mode=F16 chip=bm1684x},processor-tpu-optimize",
        tolerance=4e-3,
    )
    (product,) = ops_of(module, tpu.MatMulOp)
    assert element_of(product.results[0]) == f32


def test_f32_networks_have_nothing_to_widen() -> None:
    assert not ops_of(scores("F32", biased=True), tpu.CastOp)
