"""Bit layouts as they are written: `forms.json` of an instruction set.

A set may say that it is another one with other bits (`on`): then it gives only those, for all
commands that are numbered there (`numbered`, by engine) and layout by layout, what it has not, and
which registers have fields of a layout (`registers`: number, field, flags that must be set).
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xdsl_tpu.backend.isa.forms import Engine, Field, Register

FOLDER = Path(__file__).parent
_WORD = 32  # bits of a register


@dataclass(frozen=True)
class FormEntry:
    """A form by the names of its family and layout."""

    name: str
    family: str
    engine: Engine
    bits: int
    layout: str
    opcode: int | None
    short: int | None


@dataclass(frozen=True)
class Layouts:
    """What `forms.json` says: fields of queues and without effect, layouts by name, forms, and the
    registers that have fields of a layout."""

    queues: frozenset[str]
    idle: frozenset[str]
    layouts: dict[str, tuple[Field, ...]]
    forms: tuple[FormEntry, ...]
    registers: dict[str, dict[str, Register]] = field(default_factory=lambda: {})


def read_layouts(name: str) -> Layouts:
    """The bit layouts of an instruction set, resolved."""
    data: dict[str, Any] = json.loads((FOLDER / name / "forms.json").read_text(encoding="utf-8"))
    entries = tuple(map(_entry, data["forms"]))
    if "on" in data:
        return _on(read_layouts(data["on"]), data, entries)
    layouts = {layout: _packed(text) for layout, text in data["layouts"].items()}
    queues, idle = (frozenset(data[key].split()) for key in ("queues", "without_effect"))
    return Layouts(queues, idle, layouts, entries)


def _entry(entry: dict[str, Any]) -> FormEntry:
    return FormEntry(
        name=entry["name"],
        family=entry["family"],
        engine=Engine(entry["engine"]),
        bits=entry["bits"],
        layout=entry["layout"],
        opcode=entry["opcode"],
        short=entry["short"],
    )


def _on(base: Layouts, data: dict[str, Any], entries: tuple[FormEntry, ...]) -> Layouts:
    gone = frozenset(data["without"].split())
    kept = tuple(entry for entry in base.forms if entry.name not in gone)
    layouts: dict[str, tuple[Field, ...]] = {}
    for entry in (*kept, *entries):
        fields = base.layouts.get(entry.layout, ())
        if any(field.name == "cmd_id" for field in fields):
            fields = _replaced(fields, _placed(data["numbered"][entry.engine.value]))
        own = _placed(data["layouts"].get(entry.layout, ""))
        layouts[entry.layout] = _replaced(fields, own)
    registers = {name: dict(_registers(text)) for name, text in data["registers"].items()}
    bits = {entry.layout: entry.bits for entry in kept}
    for name, fields in registers.items():
        layouts[name] += tuple(_behind(bits[name], fields))
    return Layouts(base.queues, base.idle, layouts, (*kept, *entries), registers)


def _registers(text: str) -> Iterator[tuple[str, Register]]:
    """Fields as `number:name:flag&flag`."""
    for item in text.split():
        number, name, flags = item.split(":")
        yield name, Register(int(number), tuple(flags.split("&")))


def _behind(bits: int, names: Iterable[str]) -> Iterator[Field]:
    """Fields of a word each behind the bits of a command."""
    return (Field(name, bits + index * _WORD, _WORD) for index, name in enumerate(names))


def _packed(text: str) -> tuple[Field, ...]:
    """Fields as `name:width` from bit 0 on, without gaps."""
    fields: list[Field] = []
    offset = 0
    for item in text.split():
        name, width = item.split(":")
        fields.append(Field(name, offset, int(width)))
        offset += int(width)
    return tuple(fields)


def _placed(text: str) -> tuple[Field, ...]:
    """Fields as `offset:name:width`."""
    items = (item.split(":") for item in text.split())
    return tuple(Field(name, int(offset), int(width)) for offset, name, width in items)


def _replaced(fields: tuple[Field, ...], others: tuple[Field, ...]) -> tuple[Field, ...]:
    """The fields, with others in place of those that share bits with them."""

    def is_free(field: Field) -> bool:
        return all(
            field.offset + field.width <= other.offset or other.offset + other.width <= field.offset
            for other in others
        )

    kept = (field for field in fields if is_free(field))
    return tuple(sorted((*kept, *others), key=lambda field: field.offset))
