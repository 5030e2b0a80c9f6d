"""Values whose rows come in one order or another, who reads them in which, and what that costs."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.index_map import IndexMap, gathered
from xdsl_tpu.passes.order_rows.rows import (
    MOST_BOXES,
    Places,
    inverse,
    moved,
    places_of,
    row_map,
    row_operands,
    rows_of,
)


@dataclass(frozen=True, slots=True)
class Read:
    """Operand `index` of `op` is the rows of `source` in the order of `map`."""

    op: Operation
    index: int
    source: SSAValue
    map: IndexMap


@dataclass(frozen=True, slots=True)
class _Chain:
    """What movement has made of a value.

    Where that is more than another order of its rows, `ends` are the operands that were the last
    to be no more.
    """

    source: SSAValue
    elements: IndexMap
    ends: tuple[tuple[Operation, int], ...] = ()


@dataclass
class Graph:
    """The values of a function that are no results of movement, and who reads them.

    `by_rows` are the ops that work row by row, and the operands that have the rows of the result.
    """

    by_rows: dict[Operation, tuple[int, ...]] = field(
        default_factory=dict[Operation, tuple[int, ...]]
    )
    readers: dict[SSAValue, list[Read]] = field(
        default_factory=lambda: defaultdict[SSAValue, list[Read]](list)
    )
    operands: dict[Operation, list[Read]] = field(
        default_factory=lambda: defaultdict[Operation, list[Read]](list)
    )
    _chains: dict[SSAValue, _Chain] = field(default_factory=dict[SSAValue, _Chain])

    @staticmethod
    def of(func: FuncOp) -> "Graph":
        """The graph of a function."""
        graph = Graph()
        for op in func.body.block.ops:
            follows = row_operands(op)
            if follows:
                graph.by_rows[op] = follows
            if not graph._moves_on(op):
                for index, value in enumerate(op.operands):
                    graph._read(op, index, value)
        return graph

    def is_read(self, read: Read) -> bool:
        """Whether what reads could also read other rows, if it read all others so."""
        return read.index in self.by_rows.get(read.op, ())

    def _moves_on(self, op: Operation) -> bool:
        """Whether an op only moves rows, which are then those of a value further in front."""
        parts = moved(op)
        values = [op.operands[part.operand] for part in parts]
        if not parts or None in map(rows_of, (*values, *op.results)):
            return False
        before = [self._chain(value) for value in values]
        source, result = before[0].source, op.results[0]
        found = [
            box
            for part, chain in zip(parts, before, strict=True)
            for box in part.map.after(chain.elements).boxes
        ]
        if len(found) > MOST_BOXES or any(chain.source is not source for chain in before):
            return False
        elements = IndexMap(tuple(gathered(found)))
        is_rows = row_map(elements, source, result) is not None
        ends = (
            end
            for part, chain in zip(parts, before, strict=True)
            for end in chain.ends or ((op, part.operand),)
        )
        self._chains[result] = _Chain(source, elements, () if is_rows else tuple(ends))
        return True

    def _chain(self, value: SSAValue) -> _Chain:
        rows = rows_of(value)
        assert rows is not None
        whole = IndexMap.identity(rows.count * rows.width)
        return self._chains.get(value, _Chain(value, whole))

    def _read(self, op: Operation, index: int, value: SSAValue) -> None:
        if rows_of(value) is None:
            return
        chain = self._chain(value)
        if chain.ends:
            # What is read is more than rows; where they stopped to be, they are read as they were.
            for end in chain.ends:
                self._note(*end)
            whole = row_map(IndexMap.identity(_size(value)), value, value)
            assert whole is not None
            self._add(Read(op, index, value, whole))
        else:
            self._note(op, index)

    def _note(self, op: Operation, index: int) -> None:
        chain = self._chain(op.operands[index])
        rows = row_map(chain.elements, chain.source, op.operands[index])
        assert rows is not None
        self._add(Read(op, index, chain.source, rows))

    def _add(self, read: Read) -> None:
        if read not in self.readers[read.source]:
            self.readers[read.source].append(read)
            self.operands[read.op].append(read)


def _size(value: SSAValue) -> int:
    rows = rows_of(value)
    assert rows is not None
    return rows.count * rows.width


@dataclass
class Component:
    """Values linked by ops that work row by row.

    Labels are orders: label l of a value says that its row i is row `maps[l](i)` of the first
    value. `given` are the labels as the network stands, of values and of what is read.
    """

    graph: Graph
    given: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    wanted: dict[Read, int] = field(default_factory=dict[Read, int])
    maps: list[IndexMap] = field(default_factory=list[IndexMap])
    _labels: dict[bytes, int] = field(default_factory=dict[bytes, int])
    _places: list[Places] = field(default_factory=list[Places])

    @property
    def free(self) -> list[SSAValue]:
        """The values that may come in any order."""
        return [value for value in self.given if value.owner in self.graph.by_rows]

    def grown(self, first: SSAValue) -> Operation | None:
        """Reach everything from one value; the op whose operands contradict each other, if any."""
        rows = rows_of(first)
        assert rows is not None
        self.given[first] = self.labelled(IndexMap.identity(rows.count), rows.count)
        queue = [first]
        for value in queue:
            for near, order in self._near(value):
                label = self.labelled(order, rows.count)
                if near not in self.given:
                    self.given[near] = label
                    queue.append(near)
                elif self.given[near] != label:
                    owner = near.owner
                    if isinstance(owner, Operation) and owner in self.graph.by_rows:
                        return owner
                    user = value.owner
                    assert isinstance(user, Operation)
                    return user
        return None

    def _near(self, value: SSAValue) -> Iterator[tuple[SSAValue, IndexMap]]:
        """Values that come in an order that follows from that of `value`."""
        order = self.maps[self.given[value]]
        for read in self.graph.readers.get(value, ()):
            rows = read.map.after(order)
            self.wanted[read] = self.labelled(rows, len(self._places[0]))
            if self.graph.is_read(read):
                yield read.op.results[0], rows
        owner = value.owner
        if isinstance(owner, Operation) and owner in self.graph.by_rows:
            for read in self.graph.operands[owner]:
                if self.graph.is_read(read):
                    yield read.source, inverse(read.map).after(order)

    def labelled(self, order: IndexMap, count: int) -> int:
        """The label of an order of so many rows, a new one if it has none."""
        places = places_of(order, count)
        key = places.tobytes()
        label = self._labels.setdefault(key, len(self.maps))
        if label == len(self.maps):
            self.maps.append(order)
            self._places.append(places)
        elif len(order.boxes) < len(self.maps[label].boxes):
            self.maps[label] = order
        return label


def components(func: FuncOp) -> list[Component]:
    """The components of a function in which something may come in another order."""
    graph = Graph.of(func)
    while True:
        found = _components(graph)
        if not isinstance(found, Operation):
            return [one for one in found if one.free]
        del graph.by_rows[found]


def _components(graph: Graph) -> list[Component] | Operation:
    """All components, or an op whose operands have rows in orders that contradict each other."""
    found: list[Component] = []
    seen: set[SSAValue] = set()
    for op in graph.by_rows:
        if op.results[0] in seen:
            continue
        component = Component(graph)
        contradicted = component.grown(op.results[0])
        if contradicted is not None:
            return contradicted
        seen.update(component.given)
        found.append(component)
    return found
