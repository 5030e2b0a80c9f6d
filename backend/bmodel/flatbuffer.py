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
        size = struct.calcsize(_layout(element))
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
    size = struct.calcsize(_layout(name))
    builder.Prep(8 if any(code == "Q" for _, code in fields) else 4, size)
    for field, code in reversed(fields):
        flags: Any = number_types.Uint64Flags if code == "Q" else number_types.Uint32Flags
        builder.Prepend(flags, value[field])
    return builder.Offset()


def read_root(table: str, data: bytes) -> dict[str, Any]:
    """The root table of a flatbuffer as plain values.

    Absent scalars have their defaults, other absent slots are left out. Raises ValueError,
    struct.error, TypeError or UnicodeDecodeError on corrupt data.
    """
    (root,) = struct.unpack_from("<I", data, 0)
    return _Reader(data).table(table, root)


_FREE_BYTES = 1 << 16
_VALUES_PER_BYTE = 4


class _Reader:
    """Decodes tables, up to a limit that grows with the size of the data.

    Offsets may lead many times to the same place, so that a few thousand bytes can describe
    more than any memory holds; no writer makes such data.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.left = _FREE_BYTES + _VALUES_PER_BYTE * len(data)

    def table(self, name: str, position: int) -> dict[str, Any]:
        """The table at a position."""
        table: Any = Table(self.data, position)
        slots = TABLES[name]
        self._take(4 * len(slots))
        values: dict[str, Any] = {}
        for index, slot in enumerate(slots):
            offset = table.Offset(4 + 2 * index)
            if offset:
                values[slot.name] = self._slot(table, slot, position + offset)
            elif slot.kind in SCALARS:
                values[slot.name] = slot.default if slot.kind == "f32" else int(slot.default)
        return values

    def _take(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise ValueError(f"{len(self.data)} bytes that unfold to several times their size")

    def _slot(self, table: Any, slot: Slot, position: int) -> Any:
        if slot.is_vector:
            return self._vector(table, slot.element, position)
        if slot.kind == "str":
            return self._bytes(*self._counted(position)).decode()
        if slot.kind in TABLES:
            return self.table(slot.kind, table.Indirect(position))
        if slot.kind in STRUCTS:
            return self._struct(slot.kind, position)
        return struct.unpack_from("<" + SCALARS[slot.kind], self.data, position)[0]

    def _counted(self, position: int) -> tuple[int, int]:
        """Start and number of elements of what the offset at a position leads to."""
        start = position + struct.unpack_from("<I", self.data, position)[0]
        return start + 4, struct.unpack_from("<I", self.data, start)[0]

    def _bytes(self, start: int, count: int) -> bytes:
        self._take(count)
        if start + count > len(self.data):
            raise ValueError(f"{count} bytes at {start} of {len(self.data)}")
        return self.data[start : start + count]

    def _vector(self, table: Any, element: str, position: int) -> Any:
        start, count = self._counted(position)
        if count > len(self.data):
            raise ValueError(f"a vector of {count} elements in {len(self.data)} bytes")
        if element == "u8":
            return self._bytes(start, count)
        if element in TABLES:
            return [self.table(element, table.Indirect(start + 4 * i)) for i in range(count)]
        if element in STRUCTS:
            size = struct.calcsize(_layout(element))
            self._take(size * count)
            return [self._struct(element, start + size * i) for i in range(count)]
        self._take(struct.calcsize(SCALARS[element]) * count)
        return list(struct.unpack_from(f"<{count}{SCALARS[element]}", self.data, start))

    def _struct(self, name: str, position: int) -> dict[str, int]:
        numbers = struct.unpack_from(_layout(name), self.data, position)
        return {field: n for (field, _), n in zip(STRUCTS[name], numbers, strict=True)}


def _layout(name: str) -> str:
    return "<" + "".join(code for _, code in STRUCTS[name])
