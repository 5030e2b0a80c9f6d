"""Facts about ops that passes ask for without knowing the op.

`op.has_trait(SupportFuseRelu, value_if_unregistered=False)` is how to ask.
"""

from collections.abc import Set as AbstractSet

from xdsl.ir import Operation
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, OpTrait


class SupportFuseRelu(OpTrait):
    """A Relu after the op can become its `do_relu` and `relu_limit`."""


class SupportPermuteMove(OpTrait):
    """The op works element by element on one tensor: a Permute before it may go behind it."""


class SupportElementwise(OpTrait):
    """Each output element depends only on the input elements at its own (broadcast) index."""


class SupportConstant(OpTrait):
    """A constant operand may be replaced by one element of it when all elements are equal."""


class SupportEarlyStride(OpTrait):
    """Leaving out rows and columns before the op or after it is the same.

    The stride of a 1x1 convolution behind it may therefore be applied in front of it.
    """


class InOutSameShape(OpTrait):
    """The result has the shape of the first operand."""


class ShapeProducer(OpTrait):
    """The result is a tensor's shape, or computed from one."""


class ShapeConsumer(OpTrait):
    """An operand is a shape."""


class ScalarProducer(OpTrait):
    """The result may be a scalar, marked by `is_scalar`."""


class ScalarConsumer(OpTrait):
    """An operand may be a scalar."""


class StoredValues(OpTrait):
    """The numbers of the result are an entry of the weight file, under the name of the op."""


class OwnResult(MemoryEffect):
    """Removable when unused, but never the same as another op that looks alike.

    A weight is told apart by its name and a random tensor by nothing at all, so common
    subexpression elimination must keep its hands off them.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.ALLOC, result) for result in op.results}
