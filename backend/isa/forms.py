"""The command forms of the instruction set, read from `bm1684x.json`.

A form is one bit layout: the `s` forms are short, the others full. Encoding, decoding and
range checks derive from the field list, so adding a form is adding a line of data.
"""

import json
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

_DATA = Path(__file__).with_name("bm1684x.json")


class Engine(Enum):
    """One of the two in-order command queues."""

    TIU = "TIU"
    GDMA = "GDMA"


@dataclass(frozen=True)
class Field:
    """`width` bits at bit `offset` of the little-endian command."""

    name: str
    offset: int
    width: int

    @cached_property
    def mask(self) -> int:
        """The largest value that fits."""
        return (1 << self.width) - 1


@dataclass(frozen=True, eq=False)
class Form:
    """One bit layout with its opcode; compared by identity, there is one object per form."""

    name: str
    family: str
    engine: Engine
    bits: int
    opcode: int | None
    short: int | None
    functions: dict[int, str]
    fields: tuple[Field, ...] = field(repr=False)

    @property
    def size(self) -> int:
        """Bytes of a command of this form."""
        return self.bits // 8

    @cached_property
    def by_name(self) -> dict[str, Field]:
        """Fields by their name."""
        return {f.name: f for f in self.fields}

    @property
    def function_field(self) -> str:
        """The field that selects the function within the form."""
        return "tsk_eu_typ" if self.engine is Engine.TIU else "cmd_special_function"

    @cached_property
    def fixed(self) -> dict[str, int]:
        """Fields that have the same value in every command of the form."""
        opcode = "tsk_typ" if self.engine is Engine.TIU else "cmd_type"
        values = {opcode: self.opcode, "cmd_short": self.short}
        return {k: v for k, v in values.items() if v is not None and k in self.by_name}


def _fields(layout: str) -> tuple[Field, ...]:
    fields: list[Field] = []
    offset = 0
    for item in layout.split():
        name, width = item.split(":")
        fields.append(Field(name, offset, int(width)))
        offset += int(width)
    return tuple(fields)


def _load() -> dict[str, Form]:
    data: dict[str, Any] = json.loads(_DATA.read_text(encoding="utf-8"))
    layouts = {name: _fields(text) for name, text in data["layouts"].items()}
    return {
        entry["name"]: Form(
            name=entry["name"],
            family=entry["family"],
            engine=Engine(entry["engine"]),
            bits=entry["bits"],
            opcode=entry["opcode"],
            short=entry["short"],
            functions={int(k): v for k, v in entry["functions"].items()},
            fields=layouts[entry["layout"]],
        )
        for entry in data["forms"]
    }


FORMS: dict[str, Form] = _load()
"""Every form by name."""
