"""`tpu.GatherElements` on slices: of the row in each lane, the elements that constants name."""

from dataclasses import replace

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.tensor import Layout, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.interfaces.lane_view import Viewed
from xdsl_tpu.dialects.interfaces.local_gen import GroupType


def picked(context: LocalContext) -> None:
    """Emit one command for each image (docs/hardware/instructions.md#ssg).

    Raises NoKernel where indices are computed, or not those of rows.
    """
    assert isinstance(context.op, tpu.GatherElementsOp)
    if (why := context.op.local_support(GroupType.NORMAL)) is not None:
        raise NoKernel(why)
    out = context.out.tensor
    table, index = (_in_lines(context, place) for place in (0, 1))
    for image in range(out.shape[0]):
        row, source, which = (_image(one, image) for one in (out, table, index))
        context.emitter.pick(row, which, source)


def view(op: Operation, chip: Chip) -> tuple[Viewed]:
    """Under the images and channels that suit it best."""
    assert isinstance(op, tpu.GatherElementsOp)
    if (why := op.local_support(GroupType.NORMAL)) is not None:
        raise NoKernel(why)
    view = op.viewed(op.lanes_wanted()[0])
    assert view is not None
    return (view,)


def _in_lines(context: LocalContext, place: int) -> LocalTensor:
    """An operand whose rows begin with lines of their lanes."""
    tensor = context.operand(place).tensor
    if tensor.layout is Layout.ALIGNED:
        return tensor
    made = context.scratch.aligned(tensor.shape, tensor.dtype)
    context.emitter.copy(made, tensor)
    return made


def _image(tensor: LocalTensor, number: int) -> LocalTensor:
    """One image, the only one where that stands for all."""
    n, c, h, w = tensor.shape
    start = tensor.at(number) if n > 1 else tensor.address
    return replace(tensor, address=start, shape=(1, c, h, w))
