"""Which ops are kept out of groups although they have a local form."""

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.leaves import sliced_kernel
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.layer_group.base_groups import why_global
from xdsl_tpu.passes.layer_group.lmem_size import MERGED_TAPS
from xdsl_tpu.passes.tensors import element_bytes, shape_of


def why_not_local(op: Operation, chip: Chip) -> str | None:
    """Why an op cannot or should not work from local memory: its own word, whether there is a
    kernel for it, and what the kernel cannot do; None when it may be in a group."""
    reason = why_global(op)
    if reason is not None:
        return reason
    if sliced_kernel(op) is None:
        return f"{op.name} has no local kernel"
    if isinstance(op, tpu.Conv2DOp) and _is_far(op):
        return f"a stride of {max(ints(op.strides))} takes several commands"
    if isinstance(op, tpu.CastOp) and _is_cast_better_once(op, chip):
        return "a convolution loads its result several times over, and the operand is wider"
    return None


def _is_cast_better_once(cast: tpu.CastOp, chip: Chip) -> bool:
    """Whether an image that is loaded once per filter row should be cast before, over DDR.

    In the group all its copies are loaded in the wide type.
    """
    user = next((use.operation for use in cast.output.uses), None)
    if not isinstance(user, tpu.Conv2DOp) or not cast.output.has_one_use():
        return False
    if not user.use_3ic_optimize.value.data & MERGED_TAPS:
        return False
    rows = ints(user.kernel_shape)[0] / ints(user.strides)[0]
    wide, narrow = element_bytes(cast.input), element_bytes(cast.output)
    stored = narrow * chip.load_bytes_per_cycle / chip.store_bytes_per_cycle  # in bytes loaded
    return wide + stored + rows * narrow < rows * wide


def _is_far(conv: tpu.Conv2DOp) -> bool:
    """Whether windows are farther apart than one command can say.

    Merged rows need no stride. Where windows lie side by side in rows of their own, 8-bit kernels
    take every window as a row.
    """
    strides, merged = ints(conv.strides), conv.use_3ic_optimize.value.data & MERGED_TAPS
    if max(strides) <= LIMITS.window_stride:
        return False
    beside = strides[-1] == ints(conv.kernel_shape)[-1] and not any(ints(conv.pads))
    whole = shape_of(conv.input)[-1] == shape_of(conv.output)[-1] * strides[-1]
    return not (merged == 1 and element_bytes(conv.filter) == 1 and beside and whole)
