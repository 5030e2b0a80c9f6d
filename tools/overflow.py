"""Which layers of a run had numbers beyond the reach of their type, for a note."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects import tpu

SHOWN = 4
"""Layers in one note."""

_PRODUCTS = ("sCONV", "sMM", "sMM2")
_BENT = {op.name for op in (tpu.ActiveOp, tpu.FAttentionOp, tpu.SoftRampOp, tpu.SoftmaxOp)}
"""Ops whose kernels go by way of exponentials that may be infinite: what they give is bounded by
them, but for their products."""


@dataclass
class Overflow:
    """The commands of a run that made infinities of finite numbers."""

    commands: list[Command] = field(default_factory=list[Command])

    def layers(self, program: Program) -> dict[str, str]:
        """Name -> op of the layers that they belong to, in the order of the program."""
        wanted = {id(command) for command in self.commands}
        found: dict[str, str] = {}
        for core, engine in product(program.cores, Engine):
            for command, index in zip(core.queue(engine), core.layer_indices(engine), strict=True):
                if id(command) not in wanted or index < 0:
                    continue
                layer = program.layers[index]
                if command.form.name in _PRODUCTS or layer.op not in _BENT:
                    found[layer.name] = layer.op
        return found


def overflow_note(report: dict[str, Any]) -> str:
    """What to say of a report's `overflowed` layers while its outputs are finite; nothing of
    none."""
    layers: dict[str, str] = report.get("overflowed", {})
    lost = any(output["not_finite"] for output in report["outputs"].values())
    if not layers or lost:
        return ""
    return (
        f"numbers of {_named(list(layers.items()))} became infinite (F16 ends at 65,504, F32 at "
        "3e38), though no output has any: where outputs are wrong, --find-bad names the command, "
        "and tpu-compile --calibrate-with keeps such layers out of F16"
    )


def _named(layers: Sequence[tuple[str, str]]) -> str:
    shown = ", ".join(f"'{name}' ({op})" for name, op in layers[:SHOWN])
    more = f" and {len(layers) - SHOWN} more" if len(layers) > SHOWN else ""
    return f"{'layer' if len(layers) == 1 else 'layers'} {shown}{more}"
