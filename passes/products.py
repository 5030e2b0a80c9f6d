"""Short questions about matrix products."""

from xdsl_tpu.dialects import top, tpu

Product = top.MatMulOp | tpu.MatMulOp


def keeps_rows(op: Product) -> bool:
    """Whether each row of the left matrix gives a row of the result, in the same dimensions.

    The right matrix may be transposed.
    """
    others = (op.left_transpose, op.output_transpose, op.hdim_is_batch)
    return bool(op.keep_dims.value.data) and not any(flag.value.data for flag in others)


def is_plain(op: Product) -> bool:
    """Whether the result is input @ right as both are given, in the same dimensions."""
    return keeps_rows(op) and not op.right_transpose.value.data
