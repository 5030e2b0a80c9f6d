"""From a model and samples to a calibration table."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from xdsl_tpu.api.models import Model, as_file, fixed_shapes
from xdsl_tpu.api.samples import Preprocessing, Samples, preprocess_given, sample_file
from xdsl_tpu.api.shown import counted, working
from xdsl_tpu.api.told import told
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.tools.calibrate_model import (
    calibrate_model,
    canonical_top,
    count_samples,
    make_engine,
    samples_for,
)
from xdsl_tpu.tools.calibration_data import Source
from xdsl_tpu.tools.choices import ENGINES, METHODS
from xdsl_tpu.tools.mixing.automatic import AUTO, Wanted
from xdsl_tpu.tools.quantise_model import quantise_model


def calibrate(
    model: Model,
    samples: Samples = "random",
    method: str = "max",
    *,
    limit: int | None = None,
    percentile: float = 99.99,
    engine: str = "auto",
    preprocess: Preprocessing | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    disable: Collection[str] = (),
    progress: bool | None = None,
) -> CalibrationTable:
    """The range of every tensor on the first `limit` samples, as `tpu-calibrate` writes it.

    `method` is `max`, `percentile`, `kl`, `mse` or `auto`, which takes what comes closest to the
    float network. `preprocess` says how images become inputs: fields of `Preprocess` by name, or a
    TOML file of them, as `tpu-calibrate --preprocess` takes it. Raises TpuError for samples that do
    not fit the model.
    """
    if method not in METHODS:
        raise TpuError(f"no method '{method}': give one of {', '.join(METHODS)}")
    if engine not in ENGINES:
        raise TpuError(f"no engine '{engine}': give one of {', '.join(ENGINES)}")
    shapes = fixed_shapes(input_shapes)
    with told(), ExitStack() as stack:
        file = stack.enter_context(as_file(model))
        data: Path = stack.enter_context(sample_file(samples))
        module = canonical_top(file, shapes, disable)
        runner = make_engine(module, file, engine)
        found = samples_for(module, Source(data, preprocess_given(preprocess)))
        if method == AUTO:
            update = stack.enter_context(working(progress, f"calibrating {file.name}"))
            wanted = Wanted(AUTO, percentile)
            return quantise_model(module, runner, found, wanted, limit, on_step=update).table
        total = count_samples(found, limit) * (1 if method == "max" else 2)
        advance = stack.enter_context(counted(progress, f"calibrating {file.name}", total))
        return calibrate_model(module, runner, found, method, limit, percentile, advance)
