"""Numbers in declarations: written out, in a field, or following from several fields."""

from collections.abc import Callable
from typing import Protocol, TypeAlias


class Fields(Protocol):
    """The fields of a command; absent ones are 0."""

    def __getitem__(self, name: str, /) -> int: ...


class Figures(Protocol):
    """What declarations ask of a chip."""

    @property
    def lanes(self) -> int:
        """Lanes."""
        ...

    def input_channels(self, code: int) -> int:
        """Input channels that the matrix unit multiplies per cycle, by precision code."""
        ...


Term: TypeAlias = int | str | Callable[[Fields, Figures], int]
"""A number, the field that holds it, or how it follows from several."""


def value_of(term: Term, fields: Fields, figures: Figures) -> int:
    """The number in a command on a chip."""
    if isinstance(term, str):
        return fields[term]
    return term if isinstance(term, int) else term(fields, figures)
