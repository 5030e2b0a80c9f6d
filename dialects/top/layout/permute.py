"""The transpositions of the dialect themselves."""

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Operation

from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interfaces.layout import LayoutTranspose, Order, tensor_shape
from xdsl_tpu.dialects.interfaces.layout_rules import TransposeAbsorbsRule
from xdsl_tpu.dialects.top.layout.base import TopLayout


class PermuteOrder(LayoutTranspose):
    """Permute: its attribute `order`."""

    def order(self, op: Operation) -> Order | None:
        return ints(cast(ArrayAttr[IntegerAttr], op.attributes["order"]))


class TransposeOrder(LayoutTranspose):
    """Transpose: two dimensions change places."""

    def order(self, op: Operation) -> Order | None:
        shape = tensor_shape(op.operands[0].type)
        if shape is None:
            return None
        order = list(range(len(shape)))
        one, other = (_dim(op, name) % len(order) for name in ("dim0", "dim1"))
        order[one], order[other] = order[other], order[one]
        return tuple(order)


def _dim(op: Operation, name: str) -> int:
    attribute = op.attributes[name]
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


class PermuteAbsorbs(TransposeAbsorbsRule, TopLayout):
    """A Permute that is no change of layout reads its operand in any order for nothing."""
