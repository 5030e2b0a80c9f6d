"""A product with weights as a convolution of one place."""

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.lowering.int8.types import I32, SI8
from xdsl_tpu.passes.tensors import element_bytes, element_of, shape_of
from xdsl_tpu.passes.weight_data import Array, as_numbers, change_weight, stored_as

FILTER, BIAS = 1, 2


def convolution(
    op: tpu.MatMulOp,
    x: SSAValue,
    kind: TensorType[Attribute],
    name: str,
    weights: Weights | None,
) -> tpu.Conv2DOp:
    """`op`, of matrices (n, M, K) and K x N, of `x` (n, K, M, 1) and with a result of `kind`.

    Its weights are those of the product, turned, and become the new op's alone; a bias becomes
    f32, or i32 beside integers. `weights`, as far as they are known, change with them.
    """
    whole, biased = element_bytes(op.input) == 1, not is_none(op.bias)
    turned, matrix = bool(op.right_transpose.value.data), shape_of(op.right)[-2:]
    outputs, depth = matrix if turned else matrix[::-1]
    numbers: Mapping[str, Any] = {}
    if whole:
        (factor,), (shift,) = ints(op.multipliers), ints(op.rshifts)
        numbers = {
            "multiplier": (factor,) * outputs,
            "rshift": (shift,) * outputs,
            "quant_mode": op.quant_mode,
            "round_mode": op.round_mode,
        }

    def filters(data: Array) -> Array:
        data = data.reshape(matrix)
        return data if turned else data.T

    new = tpu.Conv2DOp.make(
        name,
        (x, op.right, op.bias),
        result_types=[kind],
        kernel_shape=(1, 1),
        strides=(1, 1),
        pads=(0, 0, 0, 0),
        dilations=(1, 1),
        with_bias=biased,
        do_relu=op.do_relu,
        relu_limit=op.relu_limit,
        **numbers,
    )
    op.operands = ()  # so that a weight of its own has one user
    shape = (outputs, depth, 1, 1)
    change_weight(new, FILTER, shape, filters, weights, element=SI8 if whole else None)
    if biased:
        old = element_of(new.bias)

        def biases(data: Array) -> Array:
            return stored_as(as_numbers(data, old), I32 if whole else f32)

        element = I32 if whole else f32
        change_weight(new, BIAS, (1, outputs, 1, 1), biases, weights, element=element)
    return new
