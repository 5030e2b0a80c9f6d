"""Writing modules character for character as mlir-opt does."""

from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    FloatAttr,
    FusedLoc,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    UnknownLoc,
    f64,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove

from xdsl_tpu.dialects._text_floats import float_text
from xdsl_tpu.dialects.interfaces.result_names import ResultNames
from xdsl_tpu.dialects.names import fused_parts


class _Taken:
    """The names given within an op isolated from above, and the numbers that made them unique."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._next = 0

    def unique(self, name: str) -> str:
        """`name`, or it with the next number: numbers are shared by all names, as MLIR does."""
        candidate = name
        while candidate in self._names:
            candidate = f"{name}_{self._next}"
            self._next += 1
        self._names.add(candidate)
        return candidate


class ValueNumbers:
    """The numbers of SSA values: `%5`, `%5#1` for the second of several results, `%arg0`.

    In a region all results are numbered first and nested regions go on from there, each from the
    same number; an op isolated from above starts at 0 again. Results of ops that name them have
    no numbers: `%out, %mask`, and `%out_0` the next time.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._names: dict[SSAValue, str] = {}
        self._number(module.body, 0, 0, _Taken())

    def __getitem__(self, value: SSAValue) -> str:
        return self._names.get(value, "<<UNKNOWN VALUE>>")

    def group(self, op: Operation) -> str:
        """What stands left of `=`: `%5`, or `%5:2` for two results, or their names."""
        if _names_of(op):
            return ", ".join(map(self.__getitem__, op.results))
        first = self[op.results[0]].partition("#")[0]
        return f"{first}:{len(op.results)}" if len(op.results) > 1 else first

    def _number(self, region: Region, value: int, argument: int, taken: _Taken) -> None:
        nested: list[Operation] = []
        for block in region.blocks:
            for arg in block.args:
                self._names[arg] = f"%arg{argument}"
                argument += 1
            for op in block.ops:
                if op.regions:
                    nested.append(op)
                if names := _names_of(op):
                    for result, name in zip(op.results, names, strict=True):
                        self._names[result] = f"%{taken.unique(name)}"
                    continue
                if len(op.results) == 1:
                    self._names[op.results[0]] = f"%{value}"
                for index, result in enumerate(op.results[:] if len(op.results) > 1 else ()):
                    self._names[result] = f"%{value}#{index}"
                value += 1 if op.results else 0
        for op in nested:
            isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
            for inner in op.regions:
                if isolated:
                    self._number(inner, 0, 0, _Taken())
                else:
                    self._number(inner, value, argument, taken)


def _names_of(op: Operation) -> tuple[str, ...]:
    return op.result_names() if isinstance(op, ResultNames) else ()


class LocationAliases:
    """The `#locN` of a module.

    Numbering: `unknown`, the locations of block arguments (both defined above the module), then
    those of the ops in program order with the parts of fused ones, and last the fused ones.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.leading = list(dict.fromkeys((UnknownLoc(), *_argument_locations(module))))
        rest = dict.fromkeys(_operation_locations(module))
        self.trailing = [location for location in rest if location not in set(self.leading)]
        self.names: dict[Attribute, str] = {
            location: f"#loc{number or ''}"
            for number, location in enumerate((*self.leading, *self.trailing))
        }


def _argument_locations(module: ModuleOp) -> Iterator[LocationAttr]:
    for op in module.walk():
        for region in op.regions:
            for block in region.blocks:
                yield from (arg.location for arg in block.args)


def _operation_locations(module: ModuleOp) -> Iterator[LocationAttr]:
    fused: list[LocationAttr] = []
    for op in module.walk():
        location = op.location
        if isinstance(location, FusedLoc):
            fused.append(location)
            yield from fused_parts(location)
        else:
            yield location
    yield from fused


class MlirPrinter(Printer):
    """An xDSL printer with mlir-opt's numbering, elisions, attribute order and location aliases."""

    def __init__(self, stream: IO[str], module: ModuleOp, locations: bool) -> None:
        super().__init__(stream=stream, print_debuginfo=locations)
        self._module = module
        self._numbers = ValueNumbers(module)
        self._aliases = LocationAliases(module) if locations else None

    def print_all(self) -> None:
        """The module between the aliases that go before it and those that follow."""
        if self._aliases is not None:
            self._print_definitions(self._aliases.leading)
        self.print_op(self._module)
        self.print_string("\n")
        if self._aliases is not None:
            self._print_definitions(self._aliases.trailing)

    def _print_definitions(self, locations: Iterable[LocationAttr]) -> None:
        assert self._aliases is not None
        names = self._aliases.names
        for location in locations:
            self.print_string(f"{names[location]} = ")
            if isinstance(location, FusedLoc):
                parts = ", ".join(names[part] for part in fused_parts(location))
                self.print_string(f"loc(fused[{parts}])")
            else:
                super().print_attribute(location)
            self.print_string("\n")

    def print_ssa_value(self, value: SSAValue) -> str:
        name = self._numbers[value]
        self.print_string(name)
        return name.removeprefix("%")

    def _print_results(self, op: Operation) -> None:
        if op.results:
            self.print_string(f"{self._numbers.group(op)} = ")

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        """A block argument; its location is spelled out although it has an alias."""
        self.print_ssa_value(arg)
        if not print_type:
            return
        self.print_string(": ")
        self.print_attribute(arg.type)
        if self._aliases is not None:
            self.print_string(" ")
            super().print_attribute(arg.location)

    def print_op(self, op: Operation) -> None:
        """An op; `builtin.` is left out everywhere, `func.` directly inside a function."""
        if type(op).print is Operation.print or self.print_generic_format:
            super().print_op(op)
            return
        self._print_results(op)
        name = op.name.removeprefix("builtin.")
        if isinstance(op.parent_op(), FuncOp):
            name = name.removeprefix("func.")
        self.print_string(name)
        op.print(self)
        if self._aliases is not None:
            self.print_string(" ")
            self.print_attribute(op.location)

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        super().print_attr_dict(dict(sorted(attr_dict.items())))

    def print_attribute(self, attribute: Attribute) -> None:
        """An attribute: locations by their alias, elements of lists without default types."""
        if isinstance(attribute, LocationAttr):
            if self._aliases is not None and attribute in self._aliases.names:
                self.print_string(f"loc({self._aliases.names[attribute]})")
            else:
                super().print_attribute(attribute)
        elif isinstance(attribute, ArrayAttr):
            with self.in_square_brackets():
                self.print_list(cast(ArrayAttr[Attribute], attribute).data, self._print_element)
        else:
            super().print_attribute(attribute)

    def _print_element(self, attribute: Attribute) -> None:
        """An element of a list: i64 and f64 go without saying."""
        if isinstance(attribute, IntegerAttr):
            self._print_number(cast(IntegerAttr[Any], attribute))
        elif isinstance(attribute, FloatAttr):
            self._print_number(cast(FloatAttr[AnyFloat], attribute))
        else:
            self.print_attribute(attribute)

    def _print_number(self, number: IntegerAttr[Any] | FloatAttr[AnyFloat]) -> None:
        if number.type == i64:
            self.print_string(str(number.value.data))
        elif number.type == f64:
            self.print_float(number.value.data, f64)
        else:
            self.print_attribute(number)

    def print_float(self, value: float, type: AnyFloat) -> None:
        self.print_string(float_text(value, type))
