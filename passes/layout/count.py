"""How many transpositions a program has, and how many bytes they move."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, OpResult
from xdsl.utils.hints import isa

from xdsl_tpu.dialects.interfaces.layout import LayoutConstant, LayoutTranspose, moves_data
from xdsl_tpu.passes.layout.costs import type_bytes


@dataclass(frozen=True)
class Transpositions:
    """Their number and the bytes of their results."""

    count: int
    bytes: int

    def __str__(self) -> str:
        plural = "" if self.count == 1 else "s"
        return f"{self.count} transposition{plural} ({self.bytes:,} bytes)"


def transpositions(module: ModuleOp) -> Transpositions:
    """All that move data when the network runs: not those of constants, or of dimensions of 1."""
    sizes = list(_sizes(module))
    return Transpositions(len(sizes), sum(sizes))


def moved_bytes(op: Operation) -> int:
    """The bytes that an op moves as a transposition, 0 for any other op."""
    trait = LayoutTranspose.of(op)
    order = None if trait is None else trait.order(op)
    kind = op.operands[0].type if order is not None else None
    if order is None or not isa(kind, TensorType[Attribute]):
        return 0
    if is_constant(op) or not moves_data(kind.get_shape(), order):
        return 0
    return type_bytes(kind)


def is_constant(op: Operation) -> bool:
    """Whether the first operand of an op is known before the network runs."""
    source = op.operands[0]
    return isinstance(source, OpResult) and LayoutConstant.of(source.op) is not None


def _sizes(module: ModuleOp) -> Iterator[int]:
    for op in module.walk():
        if size := moved_bytes(op):
            yield size
