"""Attributes of the `tpu` dialect with fields: how an op is laid out, how data is compressed."""

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import ArrayAttr, BoolAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, I64Array, I64Attr
from xdsl_tpu.dialects.errors import TpuError


class FieldsAttribute(ParametrizedAttribute):
    """An attribute printed `<key = value, ..>`, its fields in the order they are declared in.

    A field is annotated `I64Attr`, `BoolAttr` or `I64Array`.
    """

    @classmethod
    def of(cls, **values: int | bool | Sequence[int]) -> Self:
        """Build from plain values, one for every field; TpuError when some are left out."""
        keys = _keys(cls)
        if missing := [key for key in keys if key not in values]:
            raise TpuError(f"#{cls.name} needs {', '.join(missing)}")
        if unknown := sorted(values.keys() - set(keys)):
            raise TpuError(f"#{cls.name} has no field {', '.join(unknown)}")
        return cls.new([_encode(values[key]) for key in keys])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        parameters: list[Attribute] = []
        with parser.in_angle_brackets():
            for index, key in enumerate(_keys(cls)):
                if index:
                    parser.parse_punctuation(",")
                parser.parse_keyword(key)
                parser.parse_punctuation("=")
                parameters.append(parser.parse_attribute())
        return parameters

    def print_parameters(self, printer: Printer) -> None:
        fields = zip(_keys(type(self)), self.parameters, strict=True)
        with printer.in_angle_brackets():
            printer.print_string(", ".join(f"{key} = {_text(value)}" for key, value in fields))


def _keys(cls: type[FieldsAttribute]) -> Sequence[str]:
    return [key for key, _ in cls.get_irdl_definition().parameters]


def _encode(value: int | bool | Sequence[int]) -> Attribute:
    if isinstance(value, bool):
        return BOOL.encode(value)
    return I64_INT.encode(value) if isinstance(value, int) else I64_ARRAY.encode(value)


def _text(value: Attribute) -> str:
    """A value without its type, which the field implies."""
    if isinstance(value, ArrayAttr):
        return f"[{', '.join(map(_text, cast(I64Array, value).data))}]"
    if BOOL.accepts(value):
        return "true" if cast(BoolAttr, value) else "false"
    return str(cast(I64Attr, value).value.data)


@irdl_attr_definition
class LayerGroupAttr(FieldsAttribute):
    """Where and when an op of a group works: `#tpu.lg<out_addr = 0, ..>`.

    Addresses and sizes are bytes in the local memory of one lane. A list ending in `_idx` holds
    the first index of every slice along one dimension, its `_slice` partner the lengths.
    """

    name = "tpu.lg"

    out_addr: I64Attr
    out_size: I64Attr
    buffer_addr: I64Attr
    buffer_size: I64Attr
    eu_align: BoolAttr
    can_merge: BoolAttr
    in_hslice_offset: I64Array
    n_idx: I64Array
    n_slice: I64Array
    c_idx: I64Array
    c_slice: I64Array
    d_idx: I64Array
    d_slice: I64Array
    h_idx: I64Array
    h_slice: I64Array
    w_idx: I64Array
    w_slice: I64Array
    id: I64Attr
    stage: I64Attr
    slice_idx: I64Attr
    group_type: I64Attr

    def verify(self) -> None:
        for dimension in "ncdhw":
            starts = cast(I64Array, getattr(self, f"{dimension}_idx"))
            lengths = cast(I64Array, getattr(self, f"{dimension}_slice"))
            if len(starts) != len(lengths):
                raise VerifyException(
                    f"{dimension}_idx has {len(starts)} slices, {dimension}_slice {len(lengths)}"
                )


@irdl_attr_definition
class CompressAttr(FieldsAttribute):
    """How a tensor is compressed between local and global memory: `#tpu.do_compress<..>`."""

    name = "tpu.do_compress"

    do_compress: BoolAttr
    do_decompress: BoolAttr
    bias0: I64Attr
    bias1: I64Attr
    is_signed: BoolAttr
    zero_guard: BoolAttr
