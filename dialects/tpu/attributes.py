"""Attributes of the `tpu` dialect with fields: how an op is laid out, how data is compressed."""

from collections.abc import Sequence
from typing import Self, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

IntList: TypeAlias = ArrayAttr[IntAttr]


class FieldsAttribute(ParametrizedAttribute):
    """An attribute printed `<key = value, ..>`, its fields in the order they are declared in.

    A field is annotated `IntAttr`, `BoolAttr` or `IntList`.
    """

    @classmethod
    def of(cls, **values: int | bool | Sequence[int]) -> Self:
        """Build from plain values, one for every field."""
        return cls.new([_encode(values[key]) for key in _keys(cls)])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        parameters: list[Attribute] = []
        with parser.in_angle_brackets():
            for index, key in enumerate(_keys(cls)):
                if index:
                    parser.parse_punctuation(",")
                parser.parse_keyword(key)
                parser.parse_punctuation("=")
                parameters.append(_parse_value(parser))
        return parameters

    def print_parameters(self, printer: Printer) -> None:
        fields = zip(_keys(type(self)), self.parameters, strict=True)
        with printer.in_angle_brackets():
            printer.print_string(", ".join(f"{key} = {_text(value)}" for key, value in fields))


def _keys(cls: type[FieldsAttribute]) -> Sequence[str]:
    return [key for key, _ in cls.get_irdl_definition().parameters]


def _encode(value: int | bool | Sequence[int]) -> Attribute:
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if isinstance(value, int):
        return IntAttr(value)
    return ArrayAttr([IntAttr(item) for item in value])


def _parse_value(parser: AttrParser) -> Attribute:
    items = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_integer
    )
    if items is not None:
        return _encode(items)
    if (flag := parser.parse_optional_boolean()) is not None:
        return _encode(flag)
    return _encode(parser.parse_integer())


def _text(value: Attribute) -> str:
    if isinstance(value, ArrayAttr):
        return f"[{', '.join(map(_text, cast(ArrayAttr[Attribute], value).data))}]"
    if isinstance(value, IntAttr):
        return str(cast(IntAttr, value).data)
    return "true" if cast(BoolAttr, value) else "false"


@irdl_attr_definition
class LayerGroupAttr(FieldsAttribute):
    """Where and when an op of a group works: `#tpu.lg<out_addr = 0, ..>`.

    Addresses and sizes are bytes in the local memory of one lane. A list ending in `_idx` holds
    the first index of every slice along one dimension, its `_slice` partner the lengths.
    """

    name = "tpu.lg"

    out_addr: IntAttr
    out_size: IntAttr
    buffer_addr: IntAttr
    buffer_size: IntAttr
    eu_align: BoolAttr
    can_merge: BoolAttr
    in_hslice_offset: IntList
    n_idx: IntList
    n_slice: IntList
    c_idx: IntList
    c_slice: IntList
    d_idx: IntList
    d_slice: IntList
    h_idx: IntList
    h_slice: IntList
    w_idx: IntList
    w_slice: IntList
    id: IntAttr
    stage: IntAttr
    slice_idx: IntAttr
    group_type: IntAttr


@irdl_attr_definition
class CompressAttr(FieldsAttribute):
    """How a tensor is compressed between local and global memory: `#tpu.do_compress<..>`."""

    name = "tpu.do_compress"

    do_compress: BoolAttr
    do_decompress: BoolAttr
    bias0: IntAttr
    bias1: IntAttr
    is_signed: BoolAttr
    zero_guard: BoolAttr
