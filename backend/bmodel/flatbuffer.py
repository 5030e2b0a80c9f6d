"""Plain Python values to a flatbuffer and back, driven by the tables of `schema`.

A table is a dict from slot name to value, a struct a dict, a vector a list (bytes for `[u8]`).
The flatbuffers package has no types, so its builder and table objects are `Any` here.
"""

import struct
from collections.abc import Mapping
from typing import Any

import flatbuffers
from flatbuffers import number_types
from flatbuffers.table import Table

from xdsl_tpu.backend.bmodel.schema import SCALARS, STRUCTS, TABLES, Slot

Values = Mapping[str, Any]

_FLAGS: dict[str, Any] = {
    "u8": number_types.Uint8Flags,
    "i32": number_types.Int32Flags,
    "u32": number_types.Uint32Flags,
    "u64": number_types.Uint64Flags,
    "f32": number_types.Float32Flags,
}


def write_root(table: str, values: Values) -> bytes:
    """A flatbuffer whose root is `table`."""
    builder: Any = flatbuffers.Builder(1024)
    builder.Finish(_write_table(builder, table, values))
    return bytes(builder.Output())


def _write_table(builder: Any, table: str, values: Values) -> int:
    """Children first, then the table itself; returns its offset."""
    slots = TABLES[table]
    children = {
        slot.name: _write_child(builder, slot, values[slot.name])
        for slot in slots
        if slot.name in values and _is_child(slot)
    }
    builder.StartObject(len(slots))
    for index, slot in enumerate(slots):
        if slot.name not in values:
            continue
        if slot.name in children:
            builder.PrependUOffsetTRelativeSlot(index, children[slot.name], 0)
        elif slot.element in STRUCTS:
            struct_offset = _write_struct(builder, slot.element, values[slot.name])
            builder.PrependStructSlot(index, struct_offset, 0)
        else:
            default = slot.default if slot.kind == "f32" else int(slot.default)
            builder.PrependSlot(_FLAGS[slot.kind], index, values[slot.name], default)
    return builder.EndObject()


def _is_child(slot: Slot) -> bool:
    """Whether the value lies outside the table: strings, vectors and tables."""
    return slot.is_vector or slot.kind == "str" or slot.kind in TABLES


def _write_child(builder: Any, slot: Slot, value: Any) -> int:
    if slot.kind == "str":
        return builder.CreateString(value)
    if not slot.is_vector:
        return _write_table(builder, slot.kind, value)
    element = slot.element
    if element == "u8":
        return builder.CreateByteVector(value)
    if element in TABLES:
        offsets = [_write_table(builder, element, item) for item in value]
        builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            builder.PrependUOffsetTRelative(offset)
        return builder.EndVector()
    if element in STRUCTS:
        size = struct.calcsize("<" + "".join(code for _, code in STRUCTS[element]))
        builder.StartVector(size, len(value), 8)
        for item in reversed(value):
            _write_struct(builder, element, item)
        return builder.EndVector()
    size = struct.calcsize(SCALARS[element])
    builder.StartVector(size, len(value), size)
    for item in reversed(value):
        builder.Prepend(_FLAGS[element], item)
    return builder.EndVector()


def _write_struct(builder: Any, name: str, value: Values) -> int:
    fields = STRUCTS[name]
    size = struct.calcsize("<" + "".join(code for _, code in fields))
    builder.Prep(8 if any(code == "Q" for _, code in fields) else 4, size)
    for field, code in reversed(fields):
        flags: Any = number_types.Uint64Flags if code == "Q" else number_types.Uint32Flags
        builder.Prepend(flags, value[field])
    return builder.Offset()


def read_root(table: str, data: bytes) -> dict[str, Any]:
    """The root table of a flatbuffer as plain values; absent slots are left out.

    Raises ValueError, struct.error, IndexError or UnicodeDecodeError on corrupt data.
    """
    (root,) = struct.unpack_from("<I", data, 0)
    return _read_table(_table(data, root), table)


def _table(data: bytes, position: int) -> Any:
    return Table(data, position)


def _read_table(table: Any, name: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for index, slot in enumerate(TABLES[name]):
        offset = table.Offset(4 + 2 * index)
        if offset:
            values[slot.name] = _read_slot(table, slot, table.Pos + offset)
    return values


def _read_slot(table: Any, slot: Slot, position: int) -> Any:
    data: bytes = table.Bytes
    if slot.is_vector:
        return _read_vector(table, slot.element, position)
    if slot.kind == "str":
        return table.String(position).decode()
    if slot.kind in TABLES:
        return _read_table(_table(data, table.Indirect(position)), slot.kind)
    if slot.kind in STRUCTS:
        return _read_struct(data, slot.kind, position)
    return struct.unpack_from("<" + SCALARS[slot.kind], data, position)[0]


def _read_vector(table: Any, element: str, position: int) -> Any:
    data: bytes = table.Bytes
    start = position + struct.unpack_from("<I", data, position)[0]
    (count,) = struct.unpack_from("<I", data, start)
    start += 4
    if count > len(data):
        raise ValueError(f"a vector of {count} elements in {len(data)} bytes")
    if element == "u8":
        return bytes(data[start : start + count])
    if element in TABLES:
        entries = (start + 4 * i for i in range(count))
        return [_read_table(_table(data, table.Indirect(e)), element) for e in entries]
    if element in STRUCTS:
        size = struct.calcsize("<" + "".join(code for _, code in STRUCTS[element]))
        return [_read_struct(data, element, start + size * i) for i in range(count)]
    return list(struct.unpack_from(f"<{count}{SCALARS[element]}", data, start))


def _read_struct(data: bytes, name: str, position: int) -> dict[str, int]:
    fields = STRUCTS[name]
    numbers = struct.unpack_from("<" + "".join(code for _, code in fields), data, position)
    return {field: number for (field, _), number in zip(fields, numbers, strict=True)}
