"""Which part of every value a group works on in each slice (docs/hardware/groups.md#cutting).

The results that leave the group are cut evenly. From there ranges go backwards, op by op: each
says which part of its operands a part of its result needs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.dry import coefficient_bytes
from xdsl_tpu.backend.local.forms import has_coefficients
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, Ncdhw, Part, Range
from xdsl_tpu.dialects.records import record
from xdsl_tpu.passes.layer_group.lmem_size import allows_split, eu_aligned
from xdsl_tpu.passes.layer_group.sections import cut_axis
from xdsl_tpu.passes.layer_group.values import (
    AXES,
    Axis,
    AxisSlices,
    GroupType,
    Refusal,
    Secs,
    ValueSlices,
)
from xdsl_tpu.passes.tensors import is_weight, required_name


@record(frozen=True)
class Slicing:
    """The slices of every value that a group touches, from outside, inside and weights alike."""

    of: Mapping[SSAValue, ValueSlices]
    loaded: tuple[SSAValue, ...]
    stored: tuple[SSAValue, ...]


Needed = tuple[tuple[SSAValue, ValueSlices], ...] | str
"""The slices of its operands that an op needs, or why there are none."""

KnownNeeds = dict[tuple[Operation, GroupType, Secs, ValueSlices], Needed]
"""What ops need for slices of their results, found once as long as they stay as they are: ranges
that end at the same place, cut alike, share most of their ops."""


def slice_group(
    ops: Sequence[Operation],
    kind: GroupType,
    secs: Secs,
    chip: Chip,
    stored: tuple[SSAValue, ...] | None = None,
    known: KnownNeeds | None = None,
) -> Slicing | Refusal:
    """Slices for ops in the order of their block, cut into `secs`.

    `loaded` are the values from outside in the order of their first use, `stored` those that are
    used outside, unless others are given. Absent operands and results have no slices. All ops have
    a local form.
    """
    slicer = _Slicer(ops, kind, secs, chip, {} if known is None else known)
    return slicer.run(leaving(ops) if stored is None else stored)


def leaving(ops: Sequence[Operation]) -> tuple[SSAValue, ...]:
    """Results that are used outside the ops, or nowhere."""
    inside = set(ops)
    return tuple(
        result
        for op in ops
        for result in op.results
        if not is_none(result)
        and (not result.uses or any(use.operation not in inside for use in result.uses))
    )


def entering(ops: Sequence[Operation]) -> tuple[SSAValue, ...]:
    """Operands from outside, weights included, in the order of their first use."""
    made = {result for op in ops for result in op.results}
    operands = (operand for op in ops for operand in op.operands)
    return tuple(dict.fromkeys(v for v in operands if v not in made and not is_none(v)))


class _Refused(Exception):
    """Carries the reason out of the walk."""


class _Slicer:
    """One walk over a group, from its last op to its first."""

    def __init__(
        self,
        ops: Sequence[Operation],
        kind: GroupType,
        secs: Secs,
        chip: Chip,
        known: KnownNeeds,
    ) -> None:
        self.ops, self.kind, self.secs, self.chip = ops, kind, secs, chip
        self.known = known
        self.inside = set(ops)
        self.found: dict[SSAValue, ValueSlices] = {}
        self.sizes: dict[SSAValue, Ncdhw] = {}

    def run(self, stored: tuple[SSAValue, ...]) -> Slicing | Refusal:
        loaded = entering(self.ops)
        try:
            for value in stored:
                self.found[value] = self._cut(value)
            for op in reversed(self.ops):
                self._visit(op)
        except _Refused as refused:
            return Refusal(str(refused))
        for value in loaded:
            self.found[value] = self._as_loaded(value)
        return Slicing(self.found, loaded, stored)

    def _extent(self, value: SSAValue) -> Ncdhw:
        if value not in self.sizes:
            self.sizes[value] = of_value(value, self.kind, self.chip.lanes)
        return self.sizes[value]

    def _cut(self, value: SSAValue) -> ValueSlices:
        """A value that leaves the group: every axis in as many parts as there are sections."""
        sizes = self._extent(value)
        axes: list[AxisSlices] = []
        for axis in AXES:
            secs, size = getattr(self.secs, axis), getattr(sizes, axis)
            parts = cut_axis(axis, size, secs, self.chip.lanes)
            if parts is None:
                raise _Refused(f"'{required_name(value)}' has {axis} = {size}, not {secs} parts")
            axes.append(parts)
        return _of_axes(axes)

    def _visit(self, op: Operation) -> None:
        assert isinstance(op, LocalGen)
        results = op.results
        result = next((r for r in results if r in self.found), None)
        assert result is not None, f"{op.name} comes after its users"
        slices = self.found[result]
        key = op, self.kind, self.secs, slices
        needed = self.known.get(key)
        if needed is None:
            needed = self.known[key] = self._all_needed(op, slices, self._extent(result))
        if isinstance(needed, str):
            raise _Refused(needed)
        if len(results) > 1:
            for other in results:
                if not is_none(other):
                    self.found.setdefault(other, slices)
        for operand, wanted in needed:
            self._merge(operand, wanted)

    def _all_needed(self, op: LocalGen, slices: ValueSlices, sizes: Ncdhw) -> Needed:
        """What an op needs of all its operands, in their order."""
        try:
            for axis in AXES:
                if len(slices.along(axis)) > 1 and not self._may_cut(op, axis):
                    raise _Refused(f"'{required_name(op)}' ({op.name}) cannot be cut along {axis}")
            found: list[tuple[SSAValue, ValueSlices]] = []
            for index, operand in enumerate(op.operands):
                if is_none(operand):
                    continue
                if is_weight(operand) and not allows_split(operand):
                    wanted = self._weight(op, index, slices, eu_aligned(op, index))
                else:
                    wanted = self._needed(op, index, slices, sizes)
                found.append((operand, wanted))
        except _Refused as refused:
            return str(refused)
        return tuple(found)

    def _may_cut(self, op: LocalGen, axis: Axis) -> bool:
        return op.shares_channels(self.kind) if axis == "c" else op.may_split(axis, self.kind)

    def _weight(self, op: LocalGen, index: int, slices: ValueSlices, aligned: bool) -> ValueSlices:
        """All of a weight, or the result's channels of one that has a part for each."""
        sizes = self._extent(op.operands[index])
        if len(slices.c) == 1 or index not in op.channel_weights():
            return replace(_whole(sizes), eu_align=aligned, hold=True)
        if has_coefficients(op, index):
            each = max(coefficient_bytes(op, size, self.chip) for _, size in slices.c)
            sizes = Ncdhw(1, sizes.c, 1, 1, each)
        return replace(_whole(sizes), c=slices.c, eu_align=aligned)

    def _needed(self, op: LocalGen, index: int, slices: ValueSlices, sizes: Ncdhw) -> ValueSlices:
        """What an op needs of an operand for the slices of its result."""
        operand = op.operands[index]
        whole = self._extent(operand)
        axes: list[AxisSlices] = []
        both = zip(AXES, self.secs, whole, slices.all, sizes, strict=True)
        for axis, secs, size, parts, of in both:
            if secs == 1:
                axes.append(((0, size),))
                continue
            ranges = [
                op.backward(Part(axis, start, length, of, self.kind), index, size)
                for start, length in parts
            ]
            axes.append(self._checked(op, operand, axis, ranges))
        return _of_axes(axes)

    def _checked(
        self, op: Operation, operand: SSAValue, axis: Axis, ranges: Iterable[Range | None]
    ) -> AxisSlices:
        found: list[Range] = []
        for entry in ranges:
            if entry is None:
                raise _Refused(
                    f"'{required_name(op)}' ({op.name}) cannot be cut along {axis}: a part of it "
                    f"needs no part of '{required_name(operand)}'"
                )
            found.append(entry)
        if axis == "d" and len(set(found)) > 1 and not _advances(found):
            raise _Refused(
                f"'{required_name(op)}' ({op.name}) cannot be cut along d: its parts need "
                f"{found} of '{required_name(operand)}'"
            )
        return _collapsed(found)

    def _merge(self, value: SSAValue, wanted: ValueSlices) -> None:
        """Reconcile what another user needs of a value with what is known so far."""
        known = self.found.get(value)
        if known is None or known == wanted:
            self.found[value] = wanted
            return
        if known.eu_align != wanted.eu_align:
            raise _Refused(f"users of '{required_name(value)}' want it aligned and not aligned")
        axes: dict[str, AxisSlices] = {}
        for axis in AXES:
            ours, theirs = known.along(axis), wanted.along(axis)
            axes[axis] = ours if ours == theirs else self._union(value, axis, ours, theirs)
        self.found[value] = replace(known, **axes)

    def _union(
        self, value: SSAValue, axis: Axis, ours: AxisSlices, theirs: AxisSlices
    ) -> AxisSlices:
        users = [use.operation for use in value.uses if use.operation in self.inside]
        strict = next((u for u in users if not _takes_margins(u)), None)
        who = f"users of '{required_name(value)}' need different parts of it along {axis}"
        if axis not in ("h", "w"):
            raise _Refused(who)
        if strict is not None:
            raise _Refused(f"{who}, and '{required_name(strict)}' ({strict.name}) only its own")
        count = max(len(ours), len(theirs))
        pairs = ((_repeated(ours, count)[i], _repeated(theirs, count)[i]) for i in range(count))
        joined = [_join(*pair) for pair in pairs]
        found = [entry for entry in joined if entry is not None]
        if len(found) < count:
            raise _Refused(f"{who}, without overlap")
        return _collapsed(found)

    def _as_loaded(self, value: SSAValue) -> ValueSlices:
        """A value from outside that is the same in every slice is loaded once."""
        slices = self.found[value]
        if slices.hold or self.secs.total == 1 or any(len(axis) > 1 for axis in slices.all):
            return slices
        return replace(slices, hold=True)


def _of_axes(axes: Iterable[AxisSlices]) -> ValueSlices:
    n, c, d, h, w = axes
    return ValueSlices(n, c, d, h, w)


def _whole(sizes: Ncdhw) -> ValueSlices:
    return _of_axes(((0, size),) for size in sizes)


def _advances(parts: Sequence[Range]) -> bool:
    """Whether every part ends behind the one before, and only the first starts at 0."""
    ends = [start + length for start, length in parts]
    return all(a < b for a, b in pairwise(ends)) and all(start > 0 for start, _ in parts[1:])


def _collapsed(parts: Sequence[Range]) -> AxisSlices:
    """One entry when all are equal."""
    return tuple(parts) if len(set(parts)) > 1 else (parts[0],)


def _repeated(parts: AxisSlices, count: int) -> AxisSlices:
    return parts if len(parts) == count else parts * count


def _takes_margins(op: Operation) -> bool:
    return isinstance(op, LocalGen) and op.takes_margins()


def _join(a: Range, b: Range) -> Range | None:
    """The hull of two ranges that overlap."""
    low, high = max(a[0], b[0]), min(a[0] + a[1], b[0] + b[1])
    if low >= high:
        return None
    start = min(a[0], b[0])
    return start, max(a[0] + a[1], b[0] + b[1]) - start
