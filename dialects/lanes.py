"""What layouts of weights depend on: how wide a chip is."""

from dataclasses import dataclass

USUAL_ROW = 64
"""Bytes side by side in the filters of convolutions that do not say how many (`filter_row`)."""

USUAL_WORDS = 3
"""Words of requantisation of convolutions that do not say how many (`requant_words`)."""


@dataclass(frozen=True)
class Lanes:
    """A chip's lanes: how many, the bytes of each that element-wise units take at once, and the
    bytes of input channels that the matrix unit reads side by side (all powers of two); and the
    words of an output channel in tables of requantisation."""

    count: int
    width: int
    row: int
    words: int = USUAL_WORDS

    def channels(self, element_bytes: int) -> int:
        """Input channels of the matrix unit at once: one of f32, which it does not multiply."""
        return channels_of_row(self.row, element_bytes)


def channels_of_row(row: int, element_bytes: int) -> int:
    """Input channels that lie side by side in `row` bytes of a filter."""
    return 1 if element_bytes >= 4 else row // element_bytes
