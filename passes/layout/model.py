"""The layout problem of a program: which variables there are, and what copies cost.

| in the program | in the problem |
|---|---|
| slots of an op that are tied | one variable |
| an op that keeps its form | a variable with a fixed layout |
| a value through a branch or a loop | one variable for all its names on the way |
| a value and its transpositions from one layout to the other | one tensor |
| a constant | a tensor whose producer is free, and copies of it, too |
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from xdsl_tpu.dialects.interfaces.layout import (
    Carried,
    Layout,
    LayoutConstant,
    LayoutInterface,
    LayoutRegions,
    layout_order,
)
from xdsl_tpu.passes.layout.choices import Choice, absorbed_order, choices_of
from xdsl_tpu.passes.layout.costs import CopyCosts, type_bytes
from xdsl_tpu.passes.layout.labels import Form, bridged, present_forms
from xdsl_tpu.passes.layout.problem import FREE, Cost, Problem, Reader, Tensor


@dataclass
class Model:
    """A problem and what its variables and tensors stand for in the program."""

    module: ModuleOp
    forms: dict[SSAValue, Form]
    problem: Problem = field(default_factory=Problem)
    current: list[int] = field(default_factory=list[int])
    """For each variable the label that it has in the program as it stands."""
    ops: list[Operation] = field(default_factory=list[Operation])
    """For each variable the op it belongs to."""
    tensors: list[SSAValue] = field(default_factory=list[SSAValue])
    """For each tensor the value it is made as."""
    choices: dict[Operation, list[tuple[Choice, int]]] = field(
        default_factory=dict[Operation, list[tuple[Choice, int]]]
    )
    """The choices of each op with their variables."""
    carried: dict[Operation, list[tuple[Carried, int]]] = field(
        default_factory=dict[Operation, list[tuple[Carried, int]]]
    )
    """The values through the regions of an op with their variables, where they may change."""
    roots: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """For each result of a transposition from layout to layout the value it is a copy of."""
    makers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """For each value with a form, copies aside, the variable that says how it is made."""
    readers: dict[tuple[Operation, int], Reader] = field(
        default_factory=dict[tuple[Operation, int], Reader]
    )
    """For each operand with a form how it is read."""
    sources: dict[tuple[Operation, int], SSAValue] = field(
        default_factory=dict[tuple[Operation, int], SSAValue]
    )
    """For each operand with a form the value that it is, or is a copy of."""
    bridges: dict[SSAValue, list[Operation]] = field(
        default_factory=dict[SSAValue, list[Operation]]
    )
    """For each value its transpositions from layout to layout, and theirs, in program order."""

    def root(self, value: SSAValue) -> SSAValue:
        """The value that `value` is a copy of in one of the two layouts, perhaps itself."""
        return self.roots.get(value, value)


def build_model(module: ModuleOp, costs: CopyCosts, target: Layout) -> Model:
    """The layout problem of a module whose ops are to have layout `target` if they want one.

    Raises:
        LayoutError: an op must have a layout that it cannot be given.
    """
    model = Model(module, present_forms(module))
    building = _Building(model, costs, target)
    for op in module.walk():
        building.add(op)
    building.add_tensors()
    return model


@dataclass
class _Building:
    model: Model
    costs: CopyCosts
    target: Layout
    fixed: dict[tuple[Operation, Layout], int] = field(
        default_factory=dict[tuple[Operation, Layout], int]
    )
    passing: dict[SSAValue | tuple[Operation, int], int] = field(
        default_factory=dict[SSAValue | tuple[Operation, int], int]
    )
    """Variables of values through regions, by value or by operand."""

    def add(self, op: Operation) -> None:
        """Everything about one op; what encloses it has been added."""
        forms = self.model.forms
        if bridged(op, forms):
            root = self.model.root(op.operands[0])
            self.model.roots[op.results[0]] = root
            self.model.bridges.setdefault(root, []).append(op)
            return
        variables = self._add_choices(op)
        self._add_carried(op)
        for index, operand in enumerate(op.operands):
            if operand not in forms:
                continue
            variable = self.passing.get((op, index), variables.get(("operand", index)))
            absorb = None
            if variable is None:
                variable, absorb = self._fixed(op, forms[operand].layout), self._absorb(op, index)
            self.model.readers[op, index] = Reader(variable, absorb)
            self.model.sources[op, index] = self.model.root(operand)
        for index, result in enumerate(op.results):
            self._make(result, op, variables.get(("result", index)))
        for argument in _arguments(op):
            self._make(argument, op, None)

    def _make(self, value: SSAValue, op: Operation, variable: int | None) -> None:
        if value not in self.model.forms:
            return
        layout = self.model.forms[value].layout
        if LayoutConstant.of(op) is not None:
            variable = self._variable(op, layout, None)
        variable = self.passing.get(value, variable)
        self.model.makers[value] = self._fixed(op, layout) if variable is None else variable

    def _variable(
        self,
        op: Operation,
        now: Layout,
        fixed: Layout | None,
        costs: tuple[Cost, Cost] | None = None,
    ) -> int:
        self.model.ops.append(op)
        self.model.current.append(now)
        return self.model.problem.variable(fixed, costs or (FREE, FREE))

    def _fixed(self, op: Operation, layout: Layout) -> int:
        """The variable of an op for everything about it that stays in this layout."""
        if (op, layout) not in self.fixed:
            self.fixed[op, layout] = self._variable(op, layout, layout)
        return self.fixed[op, layout]

    def _add_choices(self, op: Operation) -> dict[tuple[str, int], int]:
        """Variables for the choices of an op; for each of its slots the variable."""
        found = choices_of(op, self.model.forms, self.target)
        trait = LayoutInterface.of(op)
        views = trait is not None and len(trait.tied(op)) > 1  # they stay views in any layout
        variables: dict[tuple[str, int], int] = {}
        numbered: list[tuple[Choice, int]] = []
        for place, choice in enumerate(found.choices):
            costs = (FREE, FREE) if views else _changes(choice.layout)
            if place == 0 and trait is not None:
                zero, one = map(self.costs.own, trait.preference(op))
                costs = (costs[0].plus(zero), costs[1].plus(one))
            variable = self._variable(op, choice.layout, choice.fixed, costs)
            numbered.append((choice, variable))
            variables.update({(slot.kind, slot.index): variable for slot in choice.orders})
        for layouts in found.excluded:
            pair = [variable for _, variable in numbered]
            zero, one = sorted(zip(layouts, pair, strict=True))
            self.model.problem.excluded.append((zero[1], one[1]))
        if numbered:
            self.model.choices[op] = numbered
        return variables

    def _add_carried(self, op: Operation) -> None:
        trait = LayoutRegions.of(op)
        for carried in () if trait is None else trait.carried(op):
            names = [
                *((op, index) for index in carried.operands),
                *carried.arguments,
                *carried.yielded,
                *(op.results[index] for index in carried.results),
            ]
            values = [
                name[0].operands[name[1]] if isinstance(name, tuple) else name for name in names
            ]
            present = {self.model.forms.get(value) for value in values}
            form = present.pop()
            if form is None or present or form.channel != carried.channel:
                continue
            variable = self._variable(op, form.layout, None, _changes(form.layout))
            self.passing.update(dict.fromkeys(names, variable))
            self.model.carried.setdefault(op, []).append((carried, variable))

    def _absorb(self, op: Operation, index: int) -> Cost | None:
        trait = LayoutInterface.of(op)
        place = absorbed_order(op, index, self.model.forms)
        if trait is None or place is None:
            return None
        cycles = trait.absorb(op, *place)
        return None if cycles is None else self.costs.own(cycles).plus(Cost(changes=1))

    def add_tensors(self) -> None:
        """One tensor for each value that is no copy, with the readers of its copies, too."""
        readers: dict[SSAValue, list[Reader]] = {root: [] for root in self.model.makers}
        for use, reader in self.model.readers.items():
            readers[self.model.sources[use]].append(reader)
        for root, uses in readers.items():
            tensor = Tensor(self.model.makers[root], tuple(uses), self._copy_costs(root))
            self.model.tensors.append(root)
            self.model.problem.tensors.append(tensor)

    def _copy_costs(self, root: SSAValue) -> tuple[Cost, Cost] | None:
        """The costs of a channel-last copy of a value and of a channel-first one."""
        kind, form = root.type, self.model.forms[root]
        if not isa(kind, TensorType[Attribute]):
            return None
        shape, rank = kind.get_shape(), len(kind.get_shape())
        if isinstance(root.owner, Operation) and LayoutConstant.of(root.owner) is not None:
            stored = Cost(0, type_bytes(kind))
            return stored, stored
        trips = _trips(root)
        costs: list[Cost] = []
        for label in Layout:  # of the value as it would be made
            back = layout_order(rank, label, form.channel)
            sizes = shape if label is form.layout else [shape[axis] for axis in back]
            made = TensorType(kind.element_type, sizes)
            costs.append(
                self.costs.copy(made, layout_order(rank, label.other, form.channel), trips)
            )
        return costs[0], costs[1]


def _changes(now: Layout) -> tuple[Cost, Cost]:
    """The cost of having another layout than at present."""
    one = Cost(changes=1)
    return (FREE, one) if now is Layout.CHANNEL_FIRST else (one, FREE)


def _arguments(op: Operation) -> Iterator[BlockArgument]:
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def _trips(value: SSAValue) -> int:
    """How often a value is made, as far as the loops around it tell."""
    count = 1
    parent = value.owner.parent_op()
    while parent is not None:
        trait = LayoutRegions.of(parent)
        count *= 1 if trait is None else max(trait.trips(parent), 1)
        parent = parent.parent_op()
    return count
