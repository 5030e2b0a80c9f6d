"""A transposed result is the product with its operands exchanged, where the chip can do that."""

from collections.abc import Mapping, Sequence

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_of

PLAIN: Mapping[str, bool] = {}
NAME = "ConvertMatMulWithOutputTranspose"


def transposed(
    left: Sequence[int] = (4, 7, 5),
    right: Sequence[int] = (4, 6, 5),
    *,
    order: Sequence[int] = (0, 2, 1),
    flags: Mapping[str, bool] = PLAIN,
    weight: bool = False,
    bias: bool = False,
    used: bool = False,
    disable: str = "",
) -> list[str]:
    """What is left of a product and a Permute of its result."""
    net = Net()
    b = net.weight("w", *right) if weight else net.input("b", *right)
    none = net.weight("bias", 6) if bias else net.none
    product = net.op(top.MatMulOp, "mm", (net.input("a", *left), b, none), **flags)
    y = net.op(top.PermuteOp, "y", (product,), order=order)
    outputs = [y, net.op(top.SinOp, "other", (product,))] if used else [y]
    options = f"{{disable={disable}}}" if disable else ""
    after = assert_same_numbers(net.module(*outputs), f"processor-top-optimize{options}")
    if kinds(after) == ["MatMul"]:
        (matmul,) = ops_of(after, top.MatMulOp)
        assert name_of(matmul) == "y"
        assert not matmul.left_transpose.value.data
        assert not matmul.output_transpose.value.data
    return kinds(after)


TURNED: Mapping[str, bool] = {"right_transpose": True}
ALONE: Mapping[str, tuple[Sequence[int], Sequence[int], Sequence[int], Mapping[str, bool]]] = {
    "3-D": ((4, 7, 5), (4, 6, 5), (0, 2, 1), TURNED),
    "2-D": ((7, 5), (6, 5), (1, 0), TURNED),
    "4-D": ((2, 3, 7, 5), (2, 3, 6, 5), (0, 1, 3, 2), TURNED),
    "a batch of one": ((1, 7, 5), (1, 6, 5), (0, 2, 1), TURNED),
    "both transposed": ((4, 5, 7), (4, 6, 5), (0, 2, 1), {"left_transpose": True, **TURNED}),
    "with a relu": ((4, 7, 5), (4, 6, 5), (0, 2, 1), {"do_relu": True, **TURNED}),
}


@pytest.mark.parametrize(("left", "right", "order", "flags"), ALONE.values(), ids=ALONE.keys())
def test_operands_are_exchanged(
    left: Sequence[int], right: Sequence[int], order: Sequence[int], flags: Mapping[str, bool]
) -> None:
    assert transposed(left, right, order=order, flags=flags) == ["MatMul"]
    kept = transposed(left, right, order=order, disable=NAME, flags=flags)
    assert kept == ["MatMul", "Permute"]


def test_result_is_transposed_behind_the_product() -> None:
    kept = ["MatMul", "Permute"]
    assert transposed(right=(4, 5, 6)) == kept  # both operands would be transposed
    assert transposed(bias=True, flags=TURNED) == kept  # added to rows
    assert transposed(weight=True, flags=TURNED) == kept  # loaded for all rows
    assert transposed(right=(6, 5), flags=TURNED) == kept  # one matrix for all batches
    assert transposed((2, 3, 7, 5), (2, 3, 6, 5), order=(1, 0, 3, 2), flags=TURNED) == kept
    assert transposed(used=True, flags=TURNED) == [*kept, "Sin"]
