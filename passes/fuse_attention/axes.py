"""Where the heads, rows and columns of an operand lie in the tensors that it is made from.

An operand is followed back through ops that only move: Reshapes, Permutes, Tiles of whole heads,
and multiplications by a number. Its axes are kept as *atoms* in the order of memory; a Reshape
cuts them where it must.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.tensors import shape_of

HEAD = "head"


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of an axis: `size` steps of `inner` indices each."""

    axis: str
    size: int
    inner: int = 1


Atoms = tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """A value that holds an operand: its axes in the order of memory, what it must be multiplied
    by, and how many neighbouring heads share each of its heads."""

    value: SSAValue
    atoms: Atoms
    factor: float = 1.0
    shared: int = 1

    def order(self) -> tuple[str, ...] | None:
        """The axes in the order of memory; None when one of them is in pieces."""
        axes: list[Atom] = []
        for atom in self.atoms:
            if axes and axes[-1].axis == atom.axis and axes[-1].inner == atom.inner * atom.size:
                axes[-1] = Atom(atom.axis, axes[-1].size * atom.size, atom.inner)
            else:
                axes.append(atom)
        names = tuple(atom.axis for atom in axes)
        return names if len(set(names)) == len(names) else None


def origins(value: SSAValue, axes: Sequence[tuple[str, int]]) -> Iterator[Origin]:
    """The value itself, with axes of these names and sizes, and what it is made from in turn."""
    here = Origin(value, tuple(Atom(name, size) for name, size in axes if size > 1))
    while True:
        yield here
        before = _before(here)
        if before is None:
            return
        here = before


def _before(here: Origin) -> Origin | None:
    match here.value.owner:
        case tpu.ReshapeOp() | tpu.UnsqueezeOp() | tpu.SqueezeOp() as op:
            return replace(here, value=op.operands[0])
        case tpu.PermuteOp() as op:
            return _permuted(here, op)
        case tpu.TileOp() as op:
            return _tiled(here, op)
        case tpu.MulConstOp() as op if not op.do_relu.value.data:
            return replace(here, value=op.input, factor=here.factor * op.const_val.value.data)
        case _:
            return None


def _permuted(here: Origin, op: tpu.PermuteOp) -> Origin | None:
    groups = split(here.atoms, shape_of(op.output))
    if groups is None:
        return None
    order = ints(op.order)
    moved = [groups[order.index(axis)] for axis in range(len(order))]
    return replace(here, value=op.input, atoms=tuple(atom for group in moved for atom in group))


def _tiled(here: Origin, op: tpu.TileOp) -> Origin | None:
    """In front of a Tile that gives neighbouring heads the same values."""
    groups = split(here.atoms, shape_of(op.output))
    if groups is None:
        return None
    left: list[Atom] = []
    shared = here.shared
    before = shape_of(op.input)
    for group, size, count in zip(groups, before, ints(op.tile), strict=True):
        if count == 1:
            left += group
            continue
        if size != 1 or any(a.axis != HEAD or a.inner != shared for a in group):
            return None
        shared *= math.prod(a.size for a in group)
    if shared == here.shared:
        return replace(here, value=op.input)
    kept = tuple(replace(a, inner=a.inner // shared) if a.axis == HEAD else a for a in left)
    return replace(here, value=op.input, atoms=kept, shared=shared)


def split(atoms: Atoms, shape: Sequence[int]) -> list[list[Atom]] | None:
    """The atoms that make each dimension of a shape; None where they do not fit."""
    rest = list(atoms)
    groups: list[list[Atom]] = []
    for size in shape:
        group: list[Atom] = []
        while size > 1:
            if not rest:
                return None
            first = rest.pop(0)
            if size % first.size == 0:
                group.append(first)
                size //= first.size
            elif first.size % size == 0:
                inner = first.size // size
                group.append(Atom(first.axis, size, first.inner * inner))
                rest.insert(0, Atom(first.axis, inner, first.inner))
                size = 1
            else:
                return None
        groups.append(group)
    return groups if not rest else None
