"""Plain values, of which a compilation makes hundreds of thousands.

`@record(frozen=True, slots=True)` is a dataclass like any other to type checkers, which see to it
that nobody changes one. When the compiler runs nothing does: an object that guards its fields takes
four times as long to make.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    T = TypeVar("T")

    def record(*, frozen: bool, **options: bool) -> Callable[[type[T]], type[T]]:
        """A decorator as `dataclass(frozen=True)`: equal by fields, and hashed by them."""
        assert frozen
        return dataclass(unsafe_hash=options.get("eq", True), **options)


__all__ = ["record"]
