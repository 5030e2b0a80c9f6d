"""The `#locN` of a module: which there are, their numbers, and their definitions as mlir-opt's."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation


def nested_locations(location: LocationAttr) -> tuple[LocationAttr, ...]:
    """The locations that a location is made of, in the order its text has them."""
    match location:
        case FusedLoc():
            return cast(ArrayAttr[LocationAttr], location.locations).data
        case CallSiteLoc():
            return cast(LocationAttr, location.callee), cast(LocationAttr, location.caller)
        case NameLoc() if not isinstance(location.location, NoneAttr | UnknownLoc):
            return (cast(LocationAttr, location.location),)
        case _:
            return ()


@dataclass
class _Seen:
    """What is known of a location when the module has been walked."""

    depth: int
    leading: bool


class LocationAliases:
    """The aliases of a module's locations, by LLVM's rules (`AliasInitializer` in AsmPrinter.cpp).

    Locations are numbered in the order in which the text of the module first needs them, those
    made of others after all they are made of. What a block argument needs is defined before the
    module, the rest after it; the numbers do not care.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._seen: dict[LocationAttr, _Seen] = {}
        self._visit_op(module)
        ordered = sorted(self._seen, key=lambda location: self._seen[location].depth)
        self.names: dict[Attribute, str] = {
            location: f"#loc{number or ''}" for number, location in enumerate(ordered)
        }
        self.leading = [location for location in ordered if self._seen[location].leading]
        self.trailing = [location for location in ordered if not self._seen[location].leading]

    def _visit_op(self, module: ModuleOp) -> None:
        for op in module.walk():
            self._visit(op.location, leading=False)
            for location in _argument_locations(op):
                self._visit(location, leading=True)

    def _visit(self, location: LocationAttr, *, leading: bool) -> int:
        """Note a location and what it is made of; how deep it is."""
        if (known := self._seen.get(location)) is not None:
            if leading and not known.leading:
                self._lead(location)
            return known.depth
        self._seen[location] = seen = _Seen(1, leading)
        parts = nested_locations(location)
        depths = [self._visit(part, leading=leading) for part in parts]
        seen.depth += max(depths, default=0)
        return seen.depth

    def _lead(self, location: LocationAttr) -> None:
        self._seen[location].leading = True
        for part in nested_locations(location):
            self._lead(part)


def _argument_locations(op: Operation) -> Iterator[LocationAttr]:
    for region in op.regions:
        for block in region.blocks:
            yield from (arg.location for arg in block.args)
