"""Ops that join or cut channels and touch nothing else."""

from abc import abstractmethod
from collections.abc import Mapping

from xdsl.ir import Attribute, Operation

from xdsl_tpu.dialects.interfaces.shape import Shape


class AlongChannels(Operation):
    """An op that may move whole channels, dimension 1, of tensors alike in all others."""

    @abstractmethod
    def multiplied(self, times: int, taken: Shape) -> Mapping[str, Attribute] | None:
        """Attributes to change so that the op does the same where each channel is `times` of them.

        Its first operand has the shape `taken` then. None when it does more than move channels.
        """
