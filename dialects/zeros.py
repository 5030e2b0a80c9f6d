"""What an op says of the zeros among its weights."""

from xdsl.dialects.builtin import FloatAttr, f64
from xdsl.ir import Operation

ZEROS = "zeros"
"""Attribute of an op that multiplies by weights: what part of them is zero."""


def note_zeros(op: Operation, share: float) -> None:
    """Say what part of the weights that an op multiplies by is zero."""
    op.attributes[ZEROS] = FloatAttr(round(share, 4), f64)


def zeros_of(op: Operation) -> float:
    """What part of its weights an op says is zero; 0 where it says nothing."""
    share = op.attributes.get(ZEROS)
    return float(share.value.data) if isinstance(share, FloatAttr) else 0.0
