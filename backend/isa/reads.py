"""Which fields each function reads, from `bm1684x_reads.json`; what is not there is not known."""

import json
from pathlib import Path
from typing import Any

from xdsl_tpu.backend.isa.command import Command
from xdsl_tpu.backend.isa.forms import FORMS

_DATA = Path(__file__).with_name("bm1684x_reads.json")

Key = tuple[str, int]


_Fields = dict[Key, frozenset[str]]


def _load() -> tuple[_Fields, _Fields, _Fields]:
    data: dict[str, Any] = json.loads(_DATA.read_text(encoding="utf-8"))
    queues, common = (frozenset(data[name].split()) for name in ("queues", "without_effect"))
    reads: _Fields = {}
    idle: _Fields = {}
    unknown: _Fields = {}
    for form, entries in data["forms"].items():
        everything = frozenset(FORMS[form].by_name)
        for entry in entries:
            for function in entry["functions"]:
                key = form, function
                reads[key] = frozenset(entry["reads"].split())
                idle[key] = frozenset(entry.get("without_effect", "").split()) | common
                unknown[key] = everything - queues - reads[key] - idle[key]
    return reads, idle, unknown


READS, WITHOUT_EFFECT, UNKNOWN = _load()
"""Field names by (form, function): those that change the result, those that were seen set without
changing it, and those of which neither is known. Fields of the queues are in none of them."""


def not_understood(command: Command) -> str:
    """The first field that is set and of which nobody knows what it does, in words, or nothing."""
    names = UNKNOWN.get((command.form.name, command.function), frozenset())
    if names.isdisjoint(command.fields):
        return ""
    for name in command.form.by_name:
        if name in names and command[name]:
            return f"{name} = {command[name]}: what this field does here is not known"
    return ""
