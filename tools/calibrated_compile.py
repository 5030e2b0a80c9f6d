"""Compiling from samples: the tables are made on the way, and kept with the program."""

import tempfile
from collections.abc import Callable, Collection, Generator
from contextlib import ExitStack, contextmanager, suppress
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
from xdsl_tpu.tools.mixing.journal import SUFFIX, FileJournal, Journal, Subject
from xdsl_tpu.tools.mixing.mixture import Mixture
from xdsl_tpu.tools.quantise_model import (
    described,
    kept,
    modes_text,
    quantise_model,
    subject_of,
    widened,
)

TABLE, MODES = "calibration.cali", "calibration.qtable"
"""The files beside a program that it was quantised by."""

JOURNAL = f"calibration{SUFFIX}"
"""What a search that has not ended yet has measured."""


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
    output: Path,
) -> Generator[tuple[Quantization, Tables]]:
    """The tables for a model, as files while they are needed.

    With a `target` the cosine of the outputs to the float network's is at least that on the first
    two samples; without one thresholds are the largest magnitudes. In F16 layers with numbers that
    it may not hold get a wider format. What a search for these measures is kept in the folder
    `output` until all has succeeded, so that one that was stopped goes on from there. Raises
    TpuError when the target is out of reach.
    """
    with ExitStack() as stack:
        tables = _make_tables(
            *(model, data, target, quantize, chip, input_shapes, disable, on_step),
            lambda subject: stack.enter_context(_journal(output / JOURNAL, subject, on_step)),
        )
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        tables.write(folder)
        table, modes = (
            str(folder / name) if name in tables.files else "" for name in (TABLE, MODES)
        )
        yield Quantization(table, modes), tables


@contextmanager
def _journal(
    path: Path, subject: Subject, on_step: Callable[[str], None]
) -> Generator[FileJournal]:
    """The journal of a search, which stays only where something fails behind a measurement."""
    missing = [folder for folder in path.parents if not folder.exists()]
    is_wanted = False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileJournal(path, subject) as journal:
            if journal.begins:
                on_step(journal.begins)
            try:
                yield journal
            except BaseException:
                is_wanted = bool(journal.known)
                raise
            finally:
                if not is_wanted:
                    path.unlink()
    finally:
        for folder in missing:
            with suppress(OSError):  # it was not made, or there is something in it now
                folder.rmdir()


def _make_tables(
    model: Path,
    data: Source,
    target: float | None,
    quantize: str,
    chip: str,
    input_shapes: Shapes | None,
    disable: Collection[str],
    on_step: Callable[[str], None],
    journal_of: Callable[[Subject], Journal],
) -> Tables:
    """The tables for a model; see `calibrated`."""
    on_step("reading the model")
    module = canonical_top(model, input_shapes, disable)
    state = module.attributes.get("module.state")
    if state is not None and "CALIBRATED" in str(state):
        raise TpuError(f"{model} brings its ranges along; leave --calibrate-with out")
    samples, engine = samples_for(module, data), make_engine(module, model, "auto")
    if quantize == "INT8" and target is None:
        on_step("running the samples")
        observed, count = observe(module, engine, samples)
        table = observed.table("max")
        table.header = header(module, "max", count)
        return Tables({TABLE: table.text()}, "thresholds by method max")
    journal = None
    if target is not None:
        journal = journal_of(subject_of(module, "auto", samples, chip_name=chip))
    if quantize != "INT8" or target is None:
        return _float_tables(
            widened(module, engine, samples, quantize, target, chip, on_step, journal)
        )
    wanted = Wanted(target=target)
    found = quantise_model(
        module, engine, samples, wanted, chip_name=chip, on_step=on_step, journal=journal
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
