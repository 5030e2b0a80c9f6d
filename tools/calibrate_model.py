"""From a model and sample inputs to a calibration table; printing nothing."""

from collections.abc import Callable, Collection
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.main_function import find_main, input_names
from xdsl_tpu.passes.calibration.observe import BINS, Observation
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.passes.lowering.ends import bounded_names
from xdsl_tpu.passes.pipelines import Settings, check_disabled, run_stage
from xdsl_tpu.passes.tensors import shape_of
from xdsl_tpu.tools.calibration_data import Dataset, Shapes, Source, dataset
from xdsl_tpu.tools.compile_model import read_top
from xdsl_tpu.tools.engines import (
    Engine,
    has_onnxruntime,
    interpreter_engine,
    onnxruntime_engine,
)
from xdsl_tpu.tools.image_files import ImageReader
from xdsl_tpu.tools.preprocess import preprocess_of
from xdsl_tpu.tools.random_samples import RANDOM, RandomSamples


def canonical_top(
    model: Path, input_shapes: Shapes | None = None, disable: Collection[str] = ()
) -> ModuleOp:
    """The `top.mlir` that `tpu-compile` makes of a model: its names are those of tables.

    `disable` names passes and patterns that are left out. Raises TpuError for unknown ones.
    """
    check_disabled(disable)
    module = read_top(model, input_shapes)
    run_stage(module, "top", Settings("F32", disable=disable))
    return module


def input_shapes_of(module: ModuleOp) -> Shapes:
    """The inputs of a network and their shapes."""
    main = find_main(module)[1]
    return dict(zip(input_names(main), map(shape_of, main.args), strict=True))


def make_engine(module: ModuleOp, model: Path, engine: str) -> Engine:
    """The engine of that name; `auto` is onnxruntime for ONNX models where it is installed."""
    is_onnx = model.suffix == ".onnx"
    if engine == "onnxruntime" and not is_onnx:
        raise TpuError(f"{model}: onnxruntime runs .onnx models only; use --engine interpreter")
    if engine == "onnxruntime" and not has_onnxruntime():
        raise TpuError("onnxruntime is not installed: pip install 'xdsl-tpu[reference]'")
    if engine == "interpreter" or not (is_onnx and has_onnxruntime()):
        return interpreter_engine(module)
    return onnxruntime_engine(module, model)


Samples = Dataset | RandomSamples


def samples_for(module: ModuleOp, source: Source) -> Samples:
    """The samples of a file or folder, or random ones: those that are called `random`.

    Raises TpuError where preprocessing is given and there are no images.
    """
    found: Samples
    if str(source.path) == RANDOM and not source.path.exists():
        found = RandomSamples(module)
    else:
        reader = partial(_image_reader, module, source)
        found = dataset(source.path, input_shapes_of(module), reader)
        if found.images is not None:
            return found
    if source.preprocess:
        raise TpuError(
            f"{source.path}: preprocessing ({', '.join(source.preprocess)}) is for images, and "
            "arrays go to the network as they are"
        )
    return found


def _image_reader(module: ModuleOp, source: Source) -> ImageReader:
    shapes = input_shapes_of(module)
    if len(shapes) != 1:
        raise TpuError(
            f"{source.path}: images are for networks of one input, and this one has "
            f"{', '.join(shapes)}; give .npz files with an array for each"
        )
    entries = [op for op in find_main(module)[1].body.block.ops if isinstance(op, top.InputOp)]
    name, shape = next(iter(shapes.items()))
    return ImageReader(name, shape, preprocess_of(source.preprocess, next(iter(entries), None)))


def observe(
    module: ModuleOp,
    engine: Engine,
    samples: Samples,
    limit: int | None = None,
    on_sample: Callable[[], None] = lambda: None,
) -> tuple[Observation, int]:
    """What the tensors of a canonical top module hold on the first `limit` samples, and how many
    those were."""
    seen = 0

    def run(show: Callable[[str, npt.NDArray[Any]], None]) -> None:
        nonlocal seen
        seen = 0
        for where, inputs in samples.samples(limit):
            try:
                engine(inputs, show)
            except TpuError as error:
                raise TpuError(f"{where}: {error}") from error
            seen += 1
            on_sample()

    return Observation.of(run, bounded_names(find_main(module)[1].body.block.ops)), seen


def calibrate_model(
    module: ModuleOp,
    engine: Engine,
    samples: Samples,
    method: str,
    limit: int | None,
    percentile: float,
    on_sample: Callable[[], None] = lambda: None,
) -> CalibrationTable:
    """The table of a canonical top module on the first `limit` samples."""
    observed, count = observe(module, engine, samples, limit, on_sample)
    table = observed.table(method, percentile)
    table.header = header(module, method, count)
    return table


def count_samples(samples: Samples, limit: int | None) -> int:
    """How many samples there are to run; reads every file once, which also checks them."""
    return sum(1 for _ in samples.samples(limit))


def header(module: ModuleOp, method: str, samples: int) -> list[str]:
    """Comments as tpu-mlir's tools write and look for them."""
    name = module.sym_name.data if module.sym_name else "module"
    return [
        f"# mlir version: xdsl-tpu {version('xdsl-tpu')} cali version 1.0",
        f"# mlir: {name}.mlir",
        f"# quantization threshold calculation method: {method}",
        f"# histogram number: {BINS}",
        f"# sample number: {samples}",
        "###",
    ]
