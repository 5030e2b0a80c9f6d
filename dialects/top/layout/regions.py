"""Branches and loops."""

from collections.abc import Sequence

from xdsl.ir import Operation

from xdsl_tpu.dialects.interfaces.layout import Carried, LayoutRegions
from xdsl_tpu.dialects.top.layout.constant import element_of

_LOOP_OPERANDS, _LOOP_YIELDS = 2, 1
"""How many operands (count, condition) and yielded values (condition) come before carried ones."""

_UNKNOWN_TRIPS = 8
"""What is inside a loop of unknown length is dearer than what is outside."""


class IfLayout(LayoutRegions):
    """If: a result is what both branches yield in its place."""

    def carried(self, op: Operation) -> Sequence[Carried]:
        ends = [region.block.last_op for region in op.regions]
        if any(end is None or len(end.operands) != len(op.results) for end in ends):
            return ()
        return [
            Carried(
                yielded=tuple((end, index) for end in ends if end is not None), results=(index,)
            )
            for index in range(len(op.results))
        ]


class LoopLayout(LayoutRegions):
    """Loop: the carried values. Scan outputs gain a dimension, so they keep their form."""

    def carried(self, op: Operation) -> Sequence[Carried]:
        body = op.regions[0].block
        end, count = body.last_op, len(op.operands) - _LOOP_OPERANDS
        if end is None or len(body.args) != len(op.operands):
            return ()
        return [
            Carried(
                operands=(_LOOP_OPERANDS + index,),
                arguments=(body.args[_LOOP_OPERANDS + index],),
                yielded=((end, _LOOP_YIELDS + index),),
                results=(index,),
            )
            for index in range(count)
        ]

    def trips(self, op: Operation) -> int:
        """The constant that is the maximum, if that is known: conditions end few loops earlier."""
        maker = op.operands[0].owner
        number = element_of(maker) if isinstance(maker, Operation) else None
        return _UNKNOWN_TRIPS if number is None else int(number)
