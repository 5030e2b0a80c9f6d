"""Ops that join or cut channels and touch nothing else, and ops that treat all channels alike."""

from abc import abstractmethod
from collections.abc import Mapping

from xdsl.ir import Attribute, Operation
from xdsl.traits import OpTrait

from xdsl_tpu.dialects.interfaces.shape import Shape


class AlongChannels(Operation):
    """An op that may move whole channels, dimension 1, of tensors alike in all others."""

    @abstractmethod
    def multiplied(self, times: int, taken: Shape) -> Mapping[str, Attribute] | None:
        """Attributes to change so that the op does the same where each channel is `times` of them.

        Its first operand has the shape `taken` then. None when it does more than move channels.
        """


class ChannelAlike(OpTrait):
    """An op on N, C, .. whose further operands, unless absent, have one element a channel.

    Where the elements of each channel are those of several that follow each other, with its
    parameters repeated, the op does the same.
    """
