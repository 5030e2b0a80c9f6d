"""Writing modules character for character as mlir-opt does."""

from collections.abc import Iterable, Mapping
from io import StringIO
from typing import IO, Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    CallSiteLoc,
    FloatAttr,
    FusedLoc,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    f64,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.printer import Printer

from xdsl_tpu.dialects._text_floats import float_text
from xdsl_tpu.dialects._text_locations import LocationAliases, nested_locations
from xdsl_tpu.dialects._text_values import ValueNames


class MlirPrinter(Printer):
    """An xDSL printer with mlir-opt's numbering, elisions, attribute order and location aliases.

    With `inline`, locations are spelled out where they stand, which xDSL's own parser reads.
    """

    def __init__(
        self, stream: IO[str], module: ModuleOp, locations: bool, inline: bool = False
    ) -> None:
        super().__init__(stream=stream, print_debuginfo=locations)
        self._module = module
        self._values = ValueNames(module)
        self._texts: dict[Attribute, str] = {}
        self._aliases = LocationAliases(module) if locations and not inline else None

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
        for location in locations:
            self.print_string(f"{self._aliases.names[location]} = ")
            self._print_location(location)
            self.print_string("\n")

    def _print_location(self, location: LocationAttr) -> None:
        """A location spelled out; those it is made of by their aliases, where there are any."""
        if self._aliases is None:
            super().print_attribute(location)
            return
        parts = [self._aliases.names[part] for part in nested_locations(location)]
        match location:
            case FusedLoc():
                self._print_fused(location, parts)
            case CallSiteLoc():
                self.print_string(f"loc(callsite({' at '.join(parts)}))")
            case NameLoc() if parts:
                with self.in_location():
                    self.print_attribute(location.desc)
                    self.print_string(f"({parts[0]})")
            case _:
                super().print_attribute(location)

    def _print_fused(self, location: FusedLoc, parts: Iterable[str]) -> None:
        with self.in_location():
            self.print_string("fused")
            if not isinstance(location.metadata, NoneAttr):
                with self.in_angle_brackets():
                    self.print_attribute(location.metadata)
            self.print_string(f"[{', '.join(parts)}]")

    def print_ssa_value(self, value: SSAValue) -> str:
        name = self._values[value]
        self.print_string(name)
        return name.removeprefix("%")

    def _print_results(self, op: Operation) -> None:
        if op.results:
            self.print_string(f"{self._values.group(op)} = ")

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        """A block argument; its location is spelled out although it has an alias."""
        self.print_ssa_value(arg)
        if not print_type:
            return
        self.print_string(": ")
        self.print_attribute(arg.type)
        if self.print_debuginfo:
            self.print_string(" ")
            self._print_location(arg.location)

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
        if self.print_debuginfo:
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
        else:
            text = self._texts.get(attribute)
            if text is None:
                text = self._texts[attribute] = self._text_of(attribute)
            self.print_string(text)

    def _text_of(self, attribute: Attribute) -> str:
        """What is printed for an attribute wherever it stands: blocks that are alike repeat it."""
        stream, self.stream = self.stream, StringIO()
        try:
            if isinstance(attribute, ArrayAttr):
                with self.in_square_brackets():
                    self.print_list(cast(ArrayAttr[Attribute], attribute).data, self._print_element)
            else:
                super().print_attribute(attribute)
            return self.stream.getvalue()
        finally:
            self.stream = stream

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
