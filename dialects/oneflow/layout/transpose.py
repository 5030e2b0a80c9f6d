"""Transpositions themselves."""

from xdsl.ir import Operation

from xdsl_tpu.dialects.interfaces.layout import LayoutTranspose, Order
from xdsl_tpu.dialects.interfaces.layout_rules import TransposeAbsorbsRule, integers_of
from xdsl_tpu.dialects.oneflow.layout.base import OneFlowLayout


class TransposeOrder(LayoutTranspose):
    """transpose: its attribute `perm`."""

    def order(self, op: Operation) -> Order | None:
        return tuple(integers_of(op, "perm"))


class TransposeAbsorbs(OneFlowLayout, TransposeAbsorbsRule):
    """A transposition that is no change of layout reads its operand in any order for nothing."""

    def __init__(self) -> None:
        super().__init__(attribute="perm")
