"""Every layer of a compiled program against the float network and the quantised interpreter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report import Closeness, closeness
from xdsl_tpu.backend.value_places import ValuePlace, watch
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.quant import CalibratedType, UniformType
from xdsl_tpu.dialects.text import read_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.calibration.steps import SIGNED_MAX, UNSIGNED_MAX, is_signed
from xdsl_tpu.passes.tensors import element_of
from xdsl_tpu.tools.module_weights import attach_to_model
from xdsl_tpu.tools.names import Name

Array = npt.NDArray[Any]

BAD_COSINE = 0.99
"""Below this a layer is called bad."""


@dataclass(frozen=True)
class LayerComparison:
    """One layer's result in the program.

    `to_float` compares it with the float network (None where that has no such tensor),
    `to_interpreter` with the interpreter on the same quantised IR: equal but for the rounding of
    float operations. `storage` is the format of its numbers in memory (`i8`, `u8`, `f16`), `type`
    the whole element type. `low` and `high` are the extremes of the float tensor, `threshold` is
    the magnitude that the program's type can hold (None for types without one).
    """

    name: str
    op: str
    type: str
    storage: str
    to_float: Closeness | None
    to_interpreter: Closeness
    low: float
    high: float
    threshold: float | None

    @property
    def is_bad(self) -> bool:
        """Whether it is far from the float network, or from the interpreter."""
        far = self.to_float is not None and not self.to_float.cosine >= BAD_COSINE
        return far or not self.to_interpreter.cosine >= BAD_COSINE

    def as_dict(self) -> dict[str, Any]:
        """Plain values for a report; None where a figure is infinite or not a number."""
        figures: dict[str, Any] = asdict(self) | {"bad": self.is_bad}
        for key in ("low", "high"):
            if not np.isfinite(figures[key]):
                figures[key] = None
        figures["to_float"] = None if self.to_float is None else self.to_float.as_dict()
        figures["to_interpreter"] = self.to_interpreter.as_dict()
        return figures


def compare_layers(
    folder: Path,
    program: Program,
    chip: Chip,
    inputs: Mapping[str, Array],
    on_command: Callable[[Command], None] = lambda command: None,
) -> list[LayerComparison]:
    """Bad layers first, each part in the order of the program.

    `folder` holds what `tpu-compile` wrote: `top.mlir` and `final.mlir` with their weights.
    Raises TpuError when they are missing or are not those of `program`.
    """
    from xdsl_tpu.backend.codegen import generate  # for which other runs need not wait

    final = _stage(folder, "final")
    places: list[ValuePlace] = []
    again = generate(final, weights_of(final), chip, places)
    if (len(again.tiu), len(again.gdma)) != (len(program.tiu), len(program.gdma)):
        raise TpuError(f"{folder}: final.mlir gives another program than model.bmodel holds")
    exact: dict[str, Array] = {}
    run_module(final, inputs, trace=exact.__setitem__)
    floats: dict[str, Array] = {}
    run_module(_stage(folder, "top"), inputs, trace=floats.__setitem__)
    found = watch(again, chip, inputs, places, on_command)
    rows: dict[str, LayerComparison] = {}
    for place in places:
        name = name_of(place.value) or ""
        if name in found and name in exact and name not in rows:
            rows[name] = _row(name, place.value, found[name], exact[name], floats.get(name))
    return sorted(rows.values(), key=lambda row: not row.is_bad)


def _stage(folder: Path, stage: str) -> ModuleOp:
    path = folder / f"{stage}.mlir"
    if not path.is_file():
        raise TpuError(f"{path}: no such file; layers are compared in the folder of tpu-compile")
    module = read_module(path)
    attach_to_model(module, path)
    return module


def _row(
    name: str, value: SSAValue, stored: Array, exact: Array, reference: Array | None
) -> LayerComparison:
    element = element_of(value)
    owner = value.owner
    numbers = _numbers(stored, value)
    same = reference is not None and reference.size == numbers.size
    wanted = reference.reshape(numbers.shape) if same and reference is not None else None
    shown = numbers if wanted is None else wanted
    return LayerComparison(
        name=name,
        op=getattr(owner, "name", ""),
        type=str(element).removeprefix("!"),
        storage=_storage(element),
        to_float=None if wanted is None else closeness(numbers, wanted),
        to_interpreter=closeness(numbers, _real(exact.reshape(numbers.shape), element)),
        low=float(shown.min(initial=0)),
        high=float(shown.max(initial=0)),
        threshold=_threshold(value),
    )


def _numbers(stored: Array, value: SSAValue) -> Array:
    """What stored elements stand for, in f64."""
    element = element_of(value)
    if isinstance(element, UniformType):
        return _real(stored, element)
    if stored.dtype == np.uint16:  # bf16
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return stored.astype(np.float64)


def _real(stored: Array, element: Attribute) -> Array:
    """The numbers that integers of a quantised type stand for; others as they are."""
    if not isinstance(element, UniformType):
        return stored
    return (stored.astype(np.float64) - element.zero_point) * element.scale


def _storage(element: Attribute) -> str:
    match element:
        case UniformType():
            return f"{'i' if is_signed(element) else 'u'}{element.storage.width.data}"
        case CalibratedType():
            return str(element.expressed)
        case _:
            return str(element)


def _threshold(value: SSAValue) -> float | None:
    element = element_of(value)
    if isinstance(element, UniformType):
        if element.zero_point:
            return element.scale * (abs(element.zero_point) + SIGNED_MAX + 1)
        return element.scale * (SIGNED_MAX if is_signed(element) else UNSIGNED_MAX)
    if isinstance(element, CalibratedType):
        return max(abs(element.min.value.data), abs(element.max.value.data))
    return None


COMPARED = 20
"""Rows that the terminal shows."""


def comparison_table(rows: Sequence[LayerComparison]) -> Table:
    """The first layers, for the terminal."""
    bad = sum(row.is_bad for row in rows)
    table = Table(title=f"{bad} of {len(rows)} layers are bad (cosine below {BAD_COSINE})")
    table.add_column("layer")
    table.add_column("to float: cosine, SQNR, error", justify="right")
    table.add_column("to interpreter", justify="right")
    table.add_column("range / threshold", justify="right")
    names = [_named(row) for row in rows[:COMPARED]]
    for row, name in zip(rows, names, strict=False):
        far = "" if row.to_float is None else _shortly(row.to_float)
        same = row.to_interpreter.max_abs_error == 0
        held = "" if row.threshold is None else f" / {row.threshold:.4g}"
        table.add_row(
            Name(name, names),
            far,
            "equal" if same else _shortly(row.to_interpreter),
            f"{row.low:.4g} .. {row.high:.4g}{held}",
        )
    return table


def _named(row: LayerComparison) -> str:
    return f"{row.name} ({row.op.removeprefix('tpu.')}, {row.storage})"


def _shortly(close: Closeness) -> str:
    return f"{close.cosine:.5f}, {close.sqnr_db:.1f} dB, {close.max_abs_error:.2g}"
