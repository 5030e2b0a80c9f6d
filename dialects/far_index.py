"""How a row number tells which index was outside its dimension.

Indices of several dimensions, or of elements along an axis, become numbers of rows of a matrix. In
place of one outside its dimension there is a row that no matrix has: bit 30 is set, bits 27 to 29
are the dimension, and the bits below the index plus `FURTHEST`, limited to what they hold.
"""

from dataclasses import dataclass

MARK = 1 << 30
"""Rows from here on are such: no matrix has so many."""

FURTHEST = 1 << 26
"""Indices are told from minus this up to, but not including, this."""

LAST_DIMENSION = 7
"""The last that three bits hold; later ones are told as this one."""


@dataclass(frozen=True)
class FarIndex:
    """An index outside its dimension."""

    dimension: int
    index: int

    @property
    def told(self) -> str:
        """Both in words."""
        limit = " or beyond" if self.index in (-FURTHEST, FURTHEST - 1) else ""
        later = " or a later one" if self.dimension == LAST_DIMENSION else ""
        return f"index {self.index}{limit} is outside dimension {self.dimension}{later}"


def mark_of(dimension: int) -> int:
    """What is added to an index within the limits."""
    return MARK + min(dimension, LAST_DIMENSION) * 2 * FURTHEST + FURTHEST


def far_index(row: int) -> FarIndex | None:
    """What a row number tells; None for the number of a row."""
    if row < MARK:
        return None
    dimension, index = divmod(row - MARK, 2 * FURTHEST)
    return FarIndex(dimension, index - FURTHEST)
