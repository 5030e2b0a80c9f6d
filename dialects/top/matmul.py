"""Matrix products and contractions."""

from math import prod

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_INT, TEXT, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp, is_none
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import broadcast, einsum_shape
from xdsl_tpu.dialects.top.abstract import FusedReluOp, ShapedOp
from xdsl_tpu.dialects.top.enums import DQ_TYPE
from xdsl_tpu.dialects.top.layout import MatMulLayout
from xdsl_tpu.dialects.top.traits import SupportFuseRelu


@irdl_op_definition
class MatMulOp(ShapedOp, FusedReluOp):
    """Matrix product of the last two dimensions: y = input @ right + bias, then the ReLU.

    | value | shape |
    |---|---|
    | input | batch.., M, K (K, M with `left_transpose`) |
    | right | batch.., K, N (N, K with `right_transpose`) |
    | bias | N elements, or none |
    | output | batch.., M, N (N, M with `output_transpose`) |

    Batch dimensions broadcast as in numpy.matmul, and so do vectors: a 1-D side has no M or N.
    When K is not the last dimension of the input but the product of several, those are one
    (1x512x7x7 @ 25088x4096 is 1x4096).

    `hdim_is_batch` swaps dimensions 1 and 2 of all 4-D values, so input b, M, h, K and right
    b, K, h, N give b, M, h, N with b and h as batch. Without `keep_dims` all but N become one.
    """

    name = "top.MatMul"

    input = operand_def(TENSOR)
    right = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    right_transpose = default_attr_def(BOOL, False)
    left_transpose = default_attr_def(BOOL, False)
    output_transpose = default_attr_def(BOOL, False)
    hdim_is_batch = default_attr_def(BOOL, False)
    keep_dims = default_attr_def(BOOL, True)
    is_lora = default_attr_def(BOOL, False)
    weight_bits = opt_attr_def(I64_INT)
    in_int4_scale = opt_attr_def(F64)
    in_int4_zp = opt_attr_def(F64)
    out_int8_scale = opt_attr_def(F64)
    out_int8_zp = opt_attr_def(F64)
    dq_type = default_attr_def(DQ_TYPE, "NONE")
    q_group_size = default_attr_def(I64_INT, 0)

    traits = traits_def(Pure(), SupportFuseRelu(), MatMulLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        ranks = (4,) if self.hdim_is_batch.value.data else range(1, 9)
        left, right = self.shape_of(self.input, *ranks), self.shape_of(self.right, *ranks)
        heads = bool(self.hdim_is_batch.value.data)
        if heads:
            left, right = _swap_heads(left), _swap_heads(right)
        product = self._product(left, right)
        if self.output_transpose.value.data:
            product = _transposed(product, True)
        if heads:
            product = _swap_heads(product)
        if not self.keep_dims.value.data:
            product = (prod(product[:-1]), product[-1])
        return (product,)

    def _product(self, left: Shape, right: Shape) -> Shape:
        """batch.., M, N of the operands as they are multiplied."""
        row, column = len(left) == 1, len(right) == 1
        a = (1, *left) if row else _transposed(left, self.left_transpose.value.data)
        b = (*right, 1) if column else _transposed(right, self.right_transpose.value.data)
        if a[-1] != b[-2]:
            a = _merge_to(a, b[-2]) if len(b) == 2 and not self.left_transpose.value.data else None
        if a is None:
            raise ShapeError(f"cannot multiply {dims(left)} by {dims(right)}: K differs")
        if not is_none(self.bias) and prod(self.shape_of(self.bias)) != b[-1]:
            raise ShapeError(f"bias {dims(self.shape_of(self.bias))} needs {b[-1]} elements")
        batch = broadcast(a[:-2], b[:-2])
        rows, columns = (() if row else (a[-2],)), (() if column else (b[-1],))
        return (*batch, *rows, *columns) or (1,)


def _transposed(shape: Shape, flag: object) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if flag else shape


def _swap_heads(shape: Shape) -> Shape:
    return (shape[0], shape[2], shape[1], *shape[3:])


def _merge_to(shape: Shape, k: int) -> Shape | None:
    """`shape` with as many trailing dimensions merged as have `k` elements, None if none do."""
    for first in range(len(shape) - 1, -1, -1):
        if prod(shape[first:]) == k:
            rows = shape[:first] or (1,)
            return (*rows, k)
    return None


@irdl_op_definition
class A16MatMulOp(ShapedOp):
    """A 16-bit float activation [.., K] times a packed 4- or 8-bit weight.

    Every `q_group_size` weights share a scale and a zero point (`dialects.packed_weights`). With
    `right_transpose` the weight is [N, K * weight_bits / 8], scale and zero point are
    [N, K / q_group_size].
    """

    name = "top.A16MatMul"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    zp = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    right_transpose = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 128)
    weight_bits = default_attr_def(I64_INT, 8)
    dq_type = default_attr_def(DQ_TYPE, "NONE")

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        if not self.right_transpose.value.data:
            raise ShapeError("only packed weights of rows, right_transpose = true, are supported")
        shape, weight = self.shape_of(self.input), self.shape_of(self.weight, 2)
        inner = weight[1] * 8 // self.weight_bits.value.data
        if not shape or shape[-1] != inner:
            found = shape[-1] if shape else "no"
            raise ShapeError(f"rows of {found} elements do not fit packed rows of {inner}")
        groups = (weight[0], inner // max(self.q_group_size.value.data, 1))
        for what, operand in (("scale", self.scale), ("zero point", self.zp)):
            if self.shape_of(operand) != groups:
                found = dims(self.shape_of(operand))
                raise ShapeError(f"{what} {found} does not fit {dims(groups)} groups")
        return ((*shape[:-1], weight[0]),)


@irdl_op_definition
class Fp8MatMulOp(NamedOp):
    """Matrix product with an fp8 weight that has one scale a block."""

    name = "top.Fp8MatMul"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    weight_scale = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    weight_transpose = default_attr_def(BOOL, False)
    block_size = default_attr_def(I64_INT, 128)

    traits = traits_def(Pure())


@irdl_op_definition
class MlpOp(NamedOp):
    """Gated feed-forward block: down(silu(gate(x)) * up(x)), of one expert or of several."""

    name = "top.Mlp"

    input = operand_def(TENSOR)
    weight_gate = operand_def(TENSOR)
    weight_up = operand_def(TENSOR)
    weight_down = operand_def(TENSOR)
    bias_gate = operand_def(TENSOR_OR_NONE)
    bias_up = operand_def(TENSOR_OR_NONE)
    bias_down = operand_def(TENSOR_OR_NONE)
    expert_id = operand_def(TENSOR_OR_NONE)
    scale_gate = operand_def(TENSOR_OR_NONE)
    scale_up = operand_def(TENSOR_OR_NONE)
    scale_down = operand_def(TENSOR_OR_NONE)
    zp_gate = operand_def(TENSOR_OR_NONE)
    zp_up = operand_def(TENSOR_OR_NONE)
    zp_down = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    right_transpose_gate = default_attr_def(BOOL, True)
    right_transpose_up = default_attr_def(BOOL, True)
    right_transpose_down = default_attr_def(BOOL, False)
    is_expert = default_attr_def(BOOL, False)
    quantized = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 128)
    weight_bits = default_attr_def(I64_INT, 8)
    num_expert = default_attr_def(I64_INT, 1)
    num_expert_per_tok = default_attr_def(I64_INT, 1)

    traits = traits_def(Pure())


@irdl_op_definition
class EinsumOp(ShapedOp):
    """Sum of products over the letters that the result does not have: `mode` is the equation.

        Einsum(a, b) {mode = "abcd,cde->abe"}   sums over c and d

    Any equation of letters is accepted; each letter has one size.
    """

    name = "top.Einsum"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    mode = attr_def(TEXT)

    traits = traits_def(Pure(), SupportFuseRelu())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (einsum_shape(self.mode.data, [self.shape_of(operand) for operand in self.inputs]),)
