"""From a model to a program."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.api.building import Request, build
from xdsl_tpu.api.chips import DESCRIPTION, ChipLike, described, description
from xdsl_tpu.api.folders import Owned
from xdsl_tpu.api.models import Model, as_file, fixed_shapes
from xdsl_tpu.api.program import Program, load
from xdsl_tpu.api.samples import (
    Preprocessing,
    Samples,
    is_table,
    preprocess_given,
    sample_file,
    table_file,
)
from xdsl_tpu.api.shown import working
from xdsl_tpu.api.told import told
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import FORMATS as PACKED
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.tools.calibrate_model import canonical_top
from xdsl_tpu.tools.calibration_data import Source
from xdsl_tpu.tools.choices import QUANTIZE

FORMATS = (*QUANTIZE, *PACKED)


def compile(
    model: Model,
    quantize: str = "F16",
    *,
    chip: ChipLike = "bm1684x",
    calibration: CalibrationTable | Samples | None = None,
    preprocess: Preprocessing | None = None,
    min_cosine: float | None = None,
    quantize_table: str | Path | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    disable: Collection[str] = (),
    weights: str | Path | None = None,
    transfer_layout: str | None = None,
    asymmetric: bool = False,
    group: int | None = None,
    symmetric: bool = False,
    output: str | Path | None = None,
    progress: bool | None = None,
) -> Program:
    """A program for a chip.

    `model` is a file (`.onnx`, Top IR, `.pt2`), an ONNX model or Top IR in memory, or a program of
    `torch.export`. `quantize` is F32, F16, BF16, INT8, or W4F16, W8F16, W4BF16, W8BF16, which keep
    matrices of products in 4 or 8 bits: `group` neighbours in a column share a scale (64; 32 where
    the model has it so), zero points are in the middle if `symmetric`. `calibration` is a table, or
    samples to make one from: INT8 needs one or the other, F16 and BF16 with samples keep layers
    whose numbers they do not hold in wider formats. `preprocess` says how images become inputs
    (a TOML file, or fields of `Preprocess` by name); `min_cosine` is what the outputs shall reach
    on the samples. With `asymmetric`, integers have zero points. `input_shapes` fix dynamic inputs,
    `disable` names passes and patterns to leave out. The program lives in a temporary folder until
    it is saved, or in `output`.

    Raises TpuError with the text that `tpu-compile` prints.
    """
    chosen = _known_format(quantize)
    shapes = fixed_shapes(input_shapes)
    with told(), ExitStack() as stack:
        file = stack.enter_context(as_file(model))
        name = stack.enter_context(described(chip))
        table, samples = _calibration(stack, calibration, preprocess)
        request = Request(
            file,
            chosen,
            name,
            shapes,
            disable,
            table,
            None if quantize_table is None else Path(quantize_table),
            samples,
            min_cosine,
            None if weights is None else Path(weights),
            transfer_layout,
            asymmetric=asymmetric,
            group=group,
            symmetric=symmetric,
        )
        update = stack.enter_context(working(progress, f"{file.name}: compiling"))
        return _kept(request, chip, output, lambda stage: update(f"{file.name}: {stage}"))


def _known_format(quantize: str) -> str:
    chosen = quantize.upper()
    if chosen not in FORMATS:
        raise TpuError(f"no number format '{quantize}': give one of {', '.join(FORMATS)}")
    return chosen


def _calibration(
    stack: ExitStack,
    calibration: CalibrationTable | Samples | None,
    preprocess: Preprocessing | None,
) -> tuple[Path | None, Source | None]:
    """A table, or samples to make one from; files that are made last as long as `stack`."""
    if calibration is None:
        return None, None
    if is_table(calibration):
        return stack.enter_context(table_file(calibration)), None
    path = stack.enter_context(sample_file(calibration))
    return None, Source(path, preprocess_given(preprocess))


def _kept(
    request: Request, chip: ChipLike, output: str | Path | None, on_stage: Callable[[str], None]
) -> Program:
    """The program in a folder, a temporary one that goes with it if none is given."""
    if output is not None:
        return _compiled(request, Path(output), chip, on_stage)
    owned = Owned()
    try:
        made = _compiled(request, owned.path / request.model.stem, chip, on_stage)
    except BaseException:
        owned.remove()
        raise
    return replace(made, owned=owned)


def _compiled(
    request: Request, folder: Path, chip: ChipLike, on_stage: Callable[[str], None]
) -> Program:
    made, note = build(request, folder, on_stage)
    if isinstance(chip, Mapping):
        (folder / DESCRIPTION).write_text(description(chip), encoding="utf-8")
    program = load(folder, request.chip)
    return replace(program, notes=(*program.notes, *made.notes, *filter(None, [note])))


def top_module(
    model: Model,
    *,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    disable: Collection[str] = (),
) -> ModuleOp:
    """The network in the `top` dialect, with its weights, as `compile` writes it to `top.mlir`.

    The names of its tensors are those of calibration tables. Raises TpuError for a model that
    cannot be read, and unknown passes in `disable`.
    """
    shapes = fixed_shapes(input_shapes)
    with told(), as_file(model) as file:
        return canonical_top(file, shapes, disable)
