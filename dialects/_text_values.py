"""The names of values in a module's text, as mlir-opt gives them."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsolatedFromAbove


class _Taken:
    """The names given in a region and around it, and the number that makes the next one unique."""

    def __init__(self, around: "_Taken | None" = None) -> None:
        self._names: set[str] = set() if around is None else set(around._names)
        self._next = 0 if around is None else around._next

    def unique(self, name: str) -> str:
        """`name`, or it with the next number: numbers are shared by all names, as MLIR does."""
        candidate = name
        while candidate in self._names:
            candidate = f"{name}_{self._next}"
            self._next += 1
        self._names.add(candidate)
        return candidate


class ValueNames:
    """The names of SSA values: `%5`, `%5#1` for the second of several results, `%arg0`.

    In a region all results are numbered first and nested regions go on from there, each from the
    same number; an op isolated from above starts at 0 again. An op declared with several results
    has them named as declared, without numbers: `%values, %indices`, and `%values_0` the next
    time. Of a variadic result the first value has the name: `%outs:2, %mask`, `%outs#1`.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._names: dict[SSAValue, str] = {}
        self._groups: dict[Operation, str] = {}
        self._number(module.body, 0, 0, _Taken())

    def __getitem__(self, value: SSAValue) -> str:
        return self._names.get(value, "<<UNKNOWN VALUE>>")

    def group(self, op: Operation) -> str:
        """What stands left of `=`: `%5`, or `%5:2` for two results, or their names."""
        if (known := self._groups.get(op)) is not None:
            return known
        return "<<UNKNOWN VALUE>>"

    def _number(self, region: Region, value: int, argument: int, taken: _Taken) -> None:
        nested: list[Operation] = []
        for block in region.blocks:
            if block is region.blocks.first:
                for arg in block.args:
                    self._names[arg] = f"%{taken.unique(f'arg{argument}')}"
                    argument += 1
            else:
                value = self._number_arguments(block, value)
            for op in block.ops:
                if op.regions:
                    nested.append(op)
                value = self._name_results(op, value, taken)
        for op in nested:
            isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
            for inner in op.regions:
                if isolated:
                    self._number(inner, 0, 0, _Taken())
                else:
                    self._number(inner, value, argument, _Taken(taken))

    def _number_arguments(self, block: Block, value: int) -> int:
        """Number the arguments of a block that is not its region's first, like results."""
        for arg in block.args:
            self._names[arg] = f"%{value}"
            value += 1
        return value

    def _name_results(self, op: Operation, value: int, taken: _Taken) -> int:
        """Name the results of an op; the number the next op's have."""
        if not op.results:
            return value
        first, texts = 0, list[str]()
        for name, size in _groups_of(op):
            shown = f"%{value if name is None else taken.unique(name)}"
            value += name is None
            for index, result in enumerate(op.results[first : first + size]):
                self._names[result] = f"{shown}#{index}" if size > 1 else shown
            texts.append(f"{shown}:{size}" if size > 1 else shown)
            first += size
        self._groups[op] = ", ".join(texts)
        return value


def _groups_of(op: Operation) -> Sequence[tuple[str | None, int]]:
    """The results of an op in the groups that its text names, each with its size.

    A name belongs to each declared result that is there, as MLIR's generated
    `getAsmResultNames` sets them; to none where at most one is declared, and in an op that has not
    as many results as declared, which only an error shows.
    """
    declared = op.get_irdl_definition().results if isinstance(op, IRDLOperation) else ()
    several = declared if len(declared) > 1 else ()
    groups = [(name, _size(getattr(op, name))) for name, _ in several]
    if not groups or sum(size for _, size in groups) != len(op.results):
        return [(None, len(op.results))]
    return [(name, size) for name, size in groups if size]


def _size(result: SSAValue | Sequence[SSAValue] | None) -> int:
    return 1 if isinstance(result, SSAValue) else len(result or ())
