"""Columns of a product that nobody reads."""

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.constants import linear_of, make_weight, whole_numbers_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import element_of, shape_of

UNIT = 64
"""Columns are left out in as many: of others the array would do as many, or more."""

SHARE = 0.75
"""Of the columns, that are read at most where it is worth another matrix."""


class ReadColumns(RewritePattern):
    """GatherElements(MatMul(x, W: 64x1024), i in 257..767) -> the same of W[:, 256:768], i - 256.

        MatMul          16x256x64, 16x64x1024            MatMul          16x256x64, 16x64x512
        GatherElements  16x256x1024 {axis = 2}     ->    GatherElements  16x256x512 {axis = 2}

    Indices and matrix are weights, and nothing else reads the product. (DeBERTa, arXiv 2006.03654,
    multiplies queries with all distances that there may be, and reads those within the text.)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.GatherElementsOp, rewriter: PatternRewriter) -> None:
        product = sole_producer(op.input, top.MatMulOp)
        if product is None or not has_shapes(op.input, product.right, op.indices):
            return
        shape = shape_of(op.input)
        axis, columns = op.axis.value.data % len(shape), shape[-1]
        flags = product.right_transpose, product.output_transpose, product.hdim_is_batch
        if axis != len(shape) - 1 or any(flag.value.data for flag in flags):
            return
        indices, known = whole_numbers_of(op.indices), linear_of(product.right, product.bias)
        if indices is None or not indices.size or indices.min() < 0 or known is None:
            return
        matrix, bias = known
        first = int(indices.min()) // UNIT * UNIT
        last = min(columns, (int(indices.max()) // UNIT + 1) * UNIT)
        if last - first > SHARE * columns:
            return
        made: list[Operation] = [
            make_weight(op, derived_name(product, "_r_columns"), matrix[..., first:last])
        ]
        operands = [product.input, made[0].results[0], *product.operands[2:]]
        if bias is not None:
            own = bias[first:last]
            made.append(make_weight(op, derived_name(product, "_r_bias"), own))
            operands[2] = made[-1].results[0]
        kind = tensor_like(op.input, (*shape[:-1], last - first))
        name = name_loc(derived_name(product, "_r_read"))
        some = rebuilt(product, operands=operands, result_types=[kind], location=name)
        nearer = make_weight(
            op, derived_name(op, "_r_indices"), indices - first, element_of(op.indices)
        )
        read = rebuilt(op, operands=(some.output, nearer.output))
        rewriter.replace(op, [*made, some, nearer, read])
