"""Values that are seen under the same images and channels."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.lane_view import AsksLanes, Lanes, LaneView, lanes_of
from xdsl_tpu.dialects.interfaces.shape import Shape, known_shape
from xdsl_tpu.passes.tensors import is_weight, shape_of


@dataclass(frozen=True, slots=True)
class Port:
    """Where an op meets a value that it does not follow; `lanes` are those it asks for.

    `index` is the operand; None for a result.
    """

    op: Operation
    value: SSAValue
    lanes: Lanes
    index: int | None = None

    def takes(self, lanes: Lanes) -> bool:
        """Whether the op can meet the value as one of these images and channels."""
        if lanes == self.lanes:
            return True
        op = seen(self.op)
        return op is not None and self.index is not None and op.taken(self.index, lanes) is not None

    def wanted(self) -> tuple[Lanes, ...]:
        """Images and channels that suit the op."""
        op = seen(self.op)
        more = () if op is None or self.index is None else op.lanes_taken(self.index)
        return self.lanes, *more


@dataclass
class Component:
    """Values linked by ops that can be seen in several ways: `ops` make them, `ports` meet them."""

    values: list[SSAValue] = field(default_factory=list[SSAValue])
    ops: list[LaneView] = field(default_factory=list[LaneView])
    ports: list[Port] = field(default_factory=list[Port])

    def wanted(self) -> list[Lanes]:
        """The ways of seeing the values that some op asks for."""
        found = [lanes for port in self.ports for lanes in port.wanted()]
        found += [one for op in self.ops for one in op.lanes_wanted()]
        return list(dict.fromkeys(found))

    def even(self, lanes: int) -> list[Lanes]:
        """Ways of spreading the values over most of the lanes, each of which then holds a long
        run of neighbours."""
        shapes = [shape_of(value) for value in self.values]
        commons = math.gcd(*map(math.prod, shapes)), math.gcd(*map(_rows, shapes))
        counts = (
            next(count for count in range(lanes, 0, -1) if common % count == 0)
            for common in commons
        )
        return [Lanes(1, count) for count in dict.fromkeys(counts) if 2 * count > lanes]


def _rows(shape: Shape) -> int:
    return math.prod(shape[:-1])


def components(ops: Sequence[Operation]) -> list[Component]:
    """The components of the ops of a block, in the order of their first value."""
    links = _Links()
    computed = {result for op in ops for result in op.results}
    for op in filter(None, map(seen, ops)):
        for index in op.followed():
            if op.operands[index] in computed:
                links.join(op.operands[index], op.results[0])
    found: dict[SSAValue, Component] = {}
    for op in ops:
        for result in op.results:
            if known_shape(result.type) is not None:
                found.setdefault(links.root(result), Component()).values.append(result)
    for op in ops:
        view = seen(op)
        if view is not None and (own := found.get(links.root(op.results[0]))):
            own.ops.append(view)
        for port in _ports(op):
            component = found.get(links.root(port.value))
            if component is not None:
                component.ports.append(port)
    return list(found.values())


def seen(op: Operation) -> LaneView | None:
    """The op if it computes the same under several shapes."""
    return op if isinstance(op, LaneView) and op.can_be_seen() else None


def _ports(op: Operation) -> Iterator[Port]:
    """Values that an op meets without following them, and how it sees them."""
    followed: tuple[int, ...] = ()
    shapes: Sequence[Shape | None] = ()
    own = seen(op)
    if own is not None:
        followed, wanted = own.followed(), own.lanes_wanted()
        view = own.viewed(wanted[0]) if wanted else None
        shapes = () if view is None else view.operands
    for index, value in enumerate(op.operands):
        shape = shapes[index] if index < len(shapes) else None
        if index not in followed and not is_weight(value) and not is_none(value):
            asked = op.lanes_asked(index) if isinstance(op, AsksLanes) else None
            yield Port(op, value, asked or lanes_of(shape or shape_of(value)), index)
    if own is None:
        known = (value for value in op.results if known_shape(value.type) is not None)
        yield from (Port(op, value, lanes_of(shape_of(value))) for value in known)


class _Links:
    """Union and find."""

    def __init__(self) -> None:
        self._parent: dict[SSAValue, SSAValue] = {}

    def root(self, value: SSAValue) -> SSAValue:
        while (parent := self._parent.get(value, value)) is not value:
            self._parent[value] = self._parent.get(parent, parent)
            value = parent
        return value

    def join(self, one: SSAValue, other: SSAValue) -> None:
        self._parent[self.root(one)] = self.root(other)
