"""From a model file to a folder with IR, weights and a bmodel; printing nothing."""

import json
import shutil
import time
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr

from xdsl_tpu.backend.bmodel import write_bmodel
from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.needs import Needs, needs_of
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.main_function import is_job
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, print_module, read_module
from xdsl_tpu.dialects.tpu import GroupOp
from xdsl_tpu.dialects.weights import WEIGHT_FILE, weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.input_ranges import record_input_ranges
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import FLOAT, Quantization, Settings, check_disabled, run_stage
from xdsl_tpu.tools.float_layers import Layers, layers_of
from xdsl_tpu.tools.folder import BMODEL, COMPILED, GROUPS, STAGES
from xdsl_tpu.tools.garbage import rare_collections
from xdsl_tpu.tools.module_weights import (
    attach_to_model,
    check_weights,
    drop_unused,
    name_weights,
)
from xdsl_tpu.tools.provenance import compilation, weight_hashes
from xdsl_tpu.tools.verify import verify

_BOUNDARIES = "boundaries.json"
TABLES = ("calibration.cali", "calibration.qtable")
"""What is made of samples on the way, and written after the rest."""
TOP_STATES = ("TOP_F32", "TOP_CALIBRATED")

Shapes = Mapping[str, tuple[int, ...]]


@dataclass
class Compilation:
    """What was made: the program and seconds per stage (a stage's passes are `stage/pass`).

    `notes` are what passes want the user to know, `origin` is where it comes from
    (`provenance.compilation`).
    """

    program: Program
    chip: Chip
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    notes: list[str] = field(default_factory=list[str])
    origin: dict[str, Any] = field(default_factory=dict[str, Any])
    layers: Layers | None = None
    """In what the layers of an INT8 program compute."""
    needs: Needs | None = None
    """What the network must move and multiply."""

    @property
    def floor(self) -> int | None:
        """Cycles that no program of the network in this format beats."""
        if self.needs is None:
            return None
        return self.needs.cycles(self.program.quantize, self.chip, len(self.program.cores))

    def summary(self) -> dict[str, Any]:
        """What `compile.json` holds."""
        program = self.program
        return {
            "model": program.name,
            "chip": program.chip,
            "quantize": program.quantize,
            **self.origin,
            "seconds": {stage: round(value, 3) for stage, value in self.seconds.items()},
            "notes": self.notes,
            **(
                {} if self.needs is None else {"floor": {"cycles": self.floor} | asdict(self.needs)}
            ),
            **({} if self.layers is None else {"layers": self.layers.summary()}),
            "instructions": {
                "bdc": sum(len(core.tiu) - 1 for core in program.cores),
                "gdma": sum(len(core.gdma) - 1 for core in program.cores),
            },
            **({"cores": len(program.cores)} if program.others else {}),
            "memory": {
                "coefficients": int(program.coefficients.size),
                "arena": program.arena_bytes,
                "local_per_lane": self.chip.local_bytes,
            },
        }


def compile_model(
    model: Path,
    output: Path,
    quantize: str,
    chip_name: str,
    input_shapes: Shapes | None = None,
    disable: Collection[str] = (),
    on_stage: Callable[[str], None] = lambda stage: None,
    quantization: Quantization = FLOAT,
    weights: Path | None = None,
    transfer_layout: str | None = None,
    command: str | None = None,
    cores: int = 1,
) -> Compilation:
    """Compile an ONNX file, or a MLIR file of Top IR or a OneFlow job, into the folder `output`.

    Files appear there only when everything has succeeded. `on_stage` is called as each stage
    begins. `transfer_layout` are options of that pass, which does not run without them. `command`
    is the command line, for `compile.json`; the program is for `cores` of the chip's.

    Raises TpuError, or an xDSL error for malformed IR.
    """
    check_disabled(disable)
    chip = load_chip(chip_name)
    with rare_collections(), scratch_folder(output) as scratch:
        source = _Source(model, input_shapes, weights, command)
        settings = Settings(
            quantize,
            chip.instruction_set,
            disable,
            chip_name,
            quantization,
            transfer_layout,
            str(scratch / _BOUNDARIES),
            cores=cores,
            generated=True,
        )
        result = _compile(source, settings, chip, scratch, on_stage)
        new = {file.name for file in scratch.iterdir()}
        tables = (quantization.calibration_table, quantization.quantize_table)
        read = {Path(file).name for file in (model, weights or "", *tables)}
        for name in _written_before(output) - new - read:
            (output / name).unlink(missing_ok=True)
        for name in sorted(new):
            (scratch / name).replace(output / name)
    return result


def _written_before(output: Path) -> set[str]:
    """The files in a folder that an earlier compilation says are its own."""
    try:
        summary = json.loads((output / COMPILED).read_text(encoding="utf-8"))
        found: list[object] = list(summary["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {name for name in found if isinstance(name, str) and Path(name).name == name}


@contextmanager
def scratch_folder(output: Path) -> Generator[Path]:
    """A folder inside `output` while it is needed; a failure leaves no new folders at all.

    Raises TpuError naming `output` when the folder or what goes into it cannot be written.
    """
    missing = [folder for folder in (output, *output.parents) if not folder.exists()]
    scratch = output / f".partial.{token_hex(4)}"  # known before it is there: an interrupt may come
    try:
        output.mkdir(parents=True, exist_ok=True)
        scratch.mkdir(0o700)
        yield scratch
    except BaseException as error:
        shutil.rmtree(scratch, ignore_errors=True)
        for folder in missing:
            with suppress(OSError):  # it was not made, or something else has come into it
                folder.rmdir()
        if isinstance(error, OSError) and _is_about(error, output):
            reason = (error.strerror or str(error)).lower()
            raise TpuError(
                f"{output}: cannot be written ({reason}); give another folder"
            ) from error
        raise
    shutil.rmtree(scratch, ignore_errors=True)


def _is_about(error: OSError, output: Path) -> bool:
    """Whether writing failed rather than reading: a full disk names no file at all."""
    if error.filename is None:
        return True
    file, folder = Path(str(error.filename)).absolute(), output.absolute()
    return folder.is_relative_to(file) or file.is_relative_to(folder)


@dataclass(frozen=True)
class _Source:
    """Where a program comes from: a model's file, and what was said of it."""

    model: Path
    input_shapes: Shapes | None
    weights: Path | None
    command: str | None


def _compile(
    source: _Source,
    settings: Settings,
    chip: Chip,
    folder: Path,
    on_stage: Callable[[str], None],
) -> Compilation:
    seconds: dict[str, float] = {}

    def timed(stage: str) -> Callable[[], None]:
        on_stage(stage)
        start = time.perf_counter()

        def done() -> None:
            seconds[stage] = time.perf_counter() - start

        return done

    done = timed("import")
    module = read_top(source.model, source.input_shapes, source.weights)
    record_input_ranges(module)
    hashes = weight_hashes(source.model, module, source.weights)
    done()
    layers: Layers | None = None
    needs: Needs | None = None
    for stage in STAGES:
        done = timed(stage)
        for one in run_stage(module, stage, settings):
            seconds[f"{stage}/{one.pass_name}"] = one.seconds
        done()
        if stage == "top":
            needs = needs_of(module)
        if settings.mode == "INT8" and stage == "tpu":
            layers = layers_of(module)
        done = timed(f"write {stage}.mlir")
        _write_stage(module, folder, stage)
        done()
    _write_groups(module, folder / _BOUNDARIES, folder / GROUPS)
    done = timed("codegen")
    program = generate(module, weights_of(module), chip)
    done()
    done = timed("write bmodel")
    write_bmodel(program, folder / BMODEL)
    done()
    origin = compilation(
        source.command, source.model, hashes, settings.quantization, chip, folder / BMODEL
    )
    result = Compilation(program, chip, seconds, module_info(module).notes, origin, layers, needs)
    written = sorted({COMPILED, *TABLES, *(file.name for file in folder.iterdir())})
    summary = {**result.summary(), "files": written}
    (folder / COMPILED).write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return result


def read_top(model: Path, input_shapes: Shapes | None, weights: Path | None = None) -> ModuleOp:
    """The model as a top module; its weights are attached, or named by it.

    A OneFlow job becomes one. `weights` are those of a `.mlir` file that names none.

    Raises TpuError, or an xDSL error for malformed IR.
    """
    if model.suffix == ".onnx":
        if weights is not None:
            raise TpuError("--weights is for .mlir files; an ONNX model holds its weights")
        return import_onnx(model, input_shapes)
    if model.suffix == ".mlir":
        if input_shapes:
            raise TpuError(
                "--input-shapes is for ONNX models; the shapes of a .mlir file are fixed"
            )
        module = read_module(model)
        verify(module, str(model))
        attach_to_model(module, model, weights)
        check_weights(module, model)
        if any(is_job(op) for op in module.ops):
            make_pass("convert-oneflow-to-top").apply(make_context(), module)
            module.verify()
        state = module.attributes.get("module.state")
        if isinstance(state, StringAttr) and state.data not in TOP_STATES:
            raise TpuError(
                f"{model}: its module.state is {state.data}; give Top IR ({TOP_STATES[0]}), "
                "such as the top.mlir of an earlier compilation"
            )
        return module
    raise TpuError(f"{model}: neither .onnx nor .mlir; give an ONNX model, Top IR or a OneFlow job")


def _write_groups(module: ModuleOp, boundaries: Path, path: Path) -> None:
    """The names of every group's ops, and why groups end; nothing when there are no groups."""
    if not boundaries.exists():
        return
    groups = [op for op in module.walk() if isinstance(op, GroupOp)]
    named = [[name_of(op) or "" for op in group.body.block.ops] for group in groups]
    found = {"groups": [list(dict.fromkeys(filter(None, names))) for names in named]}
    found |= json.loads(boundaries.read_text(encoding="utf-8"))
    boundaries.unlink()
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _write_stage(module: ModuleOp, folder: Path, stage: str) -> None:
    """`<stage>.mlir` and its weights under the name the module gives, those that it still names.

    A module without weights that names no file for them leaves none.
    """
    weights = weights_of(module)
    drop_unused(module, weights)
    if weights or WEIGHT_FILE in module.attributes:
        weights.save(folder / Path(name_weights(module)).name)
    with (folder / f"{stage}.mlir").open("w", encoding="utf-8") as stream:
        print_module(module, stream, inline=True)
