"""Names of tensors while transpositions come and go."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from xdsl.dialects.builtin import LocationAttr, ModuleOp, UnknownLoc
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from xdsl_tpu.dialects.interfaces.layout import (
    LayoutConstant,
    LayoutInterface,
    LayoutRegions,
    LayoutTranspose,
)
from xdsl_tpu.dialects.names import fused_loc, names_of


class Names:
    """The names that are in use in a module."""

    def __init__(self, module: ModuleOp) -> None:
        self._used: set[str] = set()
        for op in module.walk():
            trait = LayoutInterface.of(op)
            names = (*names_of(op), None if trait is None else trait.name(op))
            self._used.update(name for name in names if name is not None)

    def new(self, name: str) -> str:
        """`name`, or it with the first number that makes it new; it then is in use."""
        candidate, number = name, 0
        while candidate in self._used:
            number += 1
            candidate = f"{name}_{number}"
        self._used.add(candidate)
        return candidate

    def free(self, name: str) -> None:
        """Say that nothing has this name any more."""
        self._used.discard(name)


def names_tensors(op: Operation) -> bool:
    """Whether the names of the results of `op` say which layout they are in."""
    trait = LayoutInterface.of(op)
    return trait is None or trait.names_tensors


def rename(values: Sequence[SSAValue], names: Sequence[str | None]) -> None:
    """Give all results of an op names, if all of them have one."""
    owners = {value.owner for value in values}
    known = [name for name in names if name is not None]
    if len(owners) == 1 and len(known) == len(values):
        owner = owners.pop()
        if isinstance(owner, Operation) and len(owner.results) == len(values):
            owner.location = fused_loc(known)


@contextmanager
def keep_returned_names(module: ModuleOp) -> Generator[None]:
    """Let results of functions keep their names, whatever is done within the `with` block.

    The op that makes a result takes the name over, unless it is no op of the layout passes' (an
    input, say), or makes another result, too.
    """
    before = {(op, index): _location(op, index) for op, index in _returns(module)}
    yield
    renamed: set[Operation] = set()
    for (op, index), location in before.items():
        maker = op.operands[index].owner
        if (
            not isinstance(maker, Operation)
            or isinstance(location, UnknownLoc)
            or maker.location == location
            or maker in renamed
            or not _may_rename(maker)
            or any(maker.location == other for other in before.values())
        ):
            continue
        maker.location = location
        renamed.add(maker)


def _returns(module: ModuleOp) -> Iterator[tuple[Operation, int]]:
    """The operands of terminators that end functions."""
    for op in module.walk():
        parent = op.parent_op()
        if not op.has_trait(IsTerminator, value_if_unregistered=False) or parent is None:
            continue
        if LayoutRegions.of(parent) is None:
            yield from ((op, index) for index in range(len(op.operands)))


def _location(op: Operation, index: int) -> LocationAttr:
    """The name of an operand as a location; none when its op has several results."""
    maker = op.operands[index].owner
    if isinstance(maker, Operation) and len(maker.results) == 1:
        return maker.location
    return UnknownLoc()


def _may_rename(maker: Operation) -> bool:
    known = LayoutInterface.of(maker) is not None or LayoutTranspose.of(maker) is not None
    return known and len(maker.results) == 1 and LayoutConstant.of(maker) is None
