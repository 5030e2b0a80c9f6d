"""Compiling from samples: the tables are made on the way, and kept with the program."""

import tempfile
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.lowering.quantize_table import quantize_table_text
from xdsl_tpu.passes.pipelines import Quantization
from xdsl_tpu.tools.calibrate_model import (
    Shapes,
    canonical_top,
    header,
    make_engine,
    observe,
    samples_for,
)
from xdsl_tpu.tools.calibration_data import Source
from xdsl_tpu.tools.mixing.automatic import Quantised, Wanted
from xdsl_tpu.tools.mixing.mixture import Mixture
from xdsl_tpu.tools.quantise_model import (
    described,
    kept,
    modes_text,
    quantise_model,
    widened,
)

TABLE, MODES = "calibration.cali", "calibration.qtable"
"""The files beside a program that it was quantised by."""


@dataclass(frozen=True)
class Tables:
    """The tables of a program as text, and one line on them."""

    files: dict[str, str]
    note: str

    def write(self, folder: Path) -> None:
        """Put them beside the program."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")


@contextmanager
def calibrated(
    model: Path,
    data: Source,
    target: float | None,
    quantize: str,
    chip: str,
    input_shapes: Shapes | None,
    disable: Collection[str],
    on_step: Callable[[str], None],
) -> Generator[tuple[Quantization, Tables]]:
    """The tables for a model, as files while they are needed.

    With a `target` the cosine of the outputs to the float network's is at least that on the first
    two samples; without one thresholds are the largest magnitudes. In F16 layers with numbers that
    it may not hold get a wider format. Raises TpuError when the target is out of reach.
    """
    tables = make_tables(model, data, target, quantize, chip, input_shapes, disable, on_step)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables.write(folder)
        table, modes = (
            str(folder / name) if name in tables.files else "" for name in (TABLE, MODES)
        )
        yield Quantization(table, modes), tables


def make_tables(
    model: Path,
    data: Source,
    target: float | None,
    quantize: str,
    chip: str,
    input_shapes: Shapes | None,
    disable: Collection[str],
    on_step: Callable[[str], None],
) -> Tables:
    """The tables for a model; see `calibrated`."""
    on_step("reading the model")
    module = canonical_top(model, input_shapes, disable)
    state = module.attributes.get("module.state")
    if state is not None and "CALIBRATED" in str(state):
        raise TpuError(f"{model} brings its ranges along; leave --calibrate-with out")
    samples, engine = samples_for(module, data), make_engine(module, model, "auto")
    if quantize != "INT8":
        return _float_tables(widened(module, engine, samples, quantize, target, chip, on_step))
    if target is None:
        on_step("running the samples")
        observed, count = observe(engine, samples)
        table = observed.table("max")
        table.header = header(module, "max", count)
        return Tables({TABLE: table.text()}, "thresholds by method max")
    found = quantise_model(
        module, engine, samples, Wanted(target=target), chip_name=chip, on_step=on_step
    )
    return _tables(found, target)


def _float_tables(found: Mixture) -> Tables:
    if not found.modes:
        return Tables({}, f"all layers in one format: cosine {found.cosine:.6f} on the samples")
    head = f"# {kept(found.modes)}\n# cosine {found.cosine:.6f} on the samples\n"
    text = head + quantize_table_text(found.modes)
    return Tables({MODES: text}, f"{kept(found.modes)}: cosine {found.cosine:.6f} on the samples")


def _tables(found: Quantised, target: float) -> Tables:
    files = {TABLE: found.table.text()}
    if found.modes:
        files[MODES] = modes_text(found, target)
    by = f"thresholds by method {described(found)}"
    mixed = f"; {kept(found.modes)}" if found.modes else ""
    return Tables(files, f"{by}{mixed}: cosine {found.reached:.6f} on the samples")
