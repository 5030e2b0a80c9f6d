"""How the volumes around a convolution over three dimensions lie: in images, or as channels."""

from collections.abc import Iterator
from enum import Enum

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.top.traits import SupportElementwise
from xdsl_tpu.passes.graph import users
from xdsl_tpu.passes.processor_top_optimize.depthwise_volume import depthwise_volume

SWAP = (0, 2, 1, 3)
"""Exchanges channels and planes of (n, channels, planes, positions)."""

_FURTHEST = 6
"""Values between two convolutions that are looked at: what joins these does not depend on what is
beyond."""


class Lie(Enum):
    """How a volume lies: its planes are images, or channels of one image."""

    IMAGES = "images"
    PLANES = "planes"


def lies_beside(op: top.ConvOp) -> set[Lie]:
    """How the volumes next to a convolution's lie, or are taken: those that it reads or gives, with
    what others make of them, or add to them."""
    seen = {op.input, op.output}
    found, queue = set[Lie](), [(op.input, _FURTHEST), (op.output, _FURTHEST)]
    for value, left in queue:
        for other in _around(value):
            if other is op:
                continue
            if (lie := _lie(other)) is not None:
                found.add(lie)
            elif left and _keeps_planes(other):
                ends = [*other.operands, *other.results]
                queue += [(end, left - 1) for end in ends if end not in seen]
                seen.update(ends)
    return found


def _around(value: SSAValue) -> Iterator[Operation]:
    if isinstance(value.owner, Operation):
        yield value.owner
    yield from users(value)


def _lie(op: Operation) -> Lie | None:
    """How an op wants the volumes that it reads and gives, if it says."""
    if isinstance(op, top.PermuteOp):
        return Lie.IMAGES if ints(op.order) == SWAP else None
    if not isinstance(op, top.ConvOp):
        return None
    if depthwise_volume(op) is not None:
        return Lie.IMAGES
    kernel = ints(op.kernel_shape)
    return Lie.PLANES if len(kernel) == len(SWAP) - 1 and kernel[0] > 1 else None


def _keeps_planes(op: Operation) -> bool:
    """Whether what an op gives lies as what it reads."""
    return isinstance(op, _KEEPING) or op.has_trait(SupportElementwise)


_KEEPING = top.ReshapeOp | top.ConcatOp | top.MaxPoolOp
