"""From a model's file to a folder with its program, tables included: what `tpu-compile` does."""

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import FORMATS, bits_of, floats_of
from xdsl_tpu.passes.pipelines import Quantization
from xdsl_tpu.tools.calibration_data import Source
from xdsl_tpu.tools.compile_model import Compilation, compile_model


@dataclass(frozen=True)
class Request:
    """What is to be compiled, and how; the options of `tpu-compile` of these names."""

    model: Path
    quantize: str = "F16"
    chip: str = "bm1684x"
    input_shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    disable: Collection[str] = ()
    calibration_table: Path | None = None
    quantize_table: Path | None = None
    calibrate_with: Source | None = None
    min_cosine: float | None = None
    weights: Path | None = None
    transfer_layout: str | None = None
    command: str | None = None
    cores: int = 1
    asymmetric: bool = False
    group: int | None = None
    symmetric: bool = False

    def check(self) -> None:
        """Raise TpuError for options that say different things about ranges."""
        if (self.group or self.symmetric) and not bits_of(self.quantize):
            option = "--group" if self.group else "--symmetric"
            raise TpuError(f"{option} is for packed matrices: --quantize {'|'.join(FORMATS)}")
        if self.asymmetric and self.quantize not in (None, "INT8"):
            raise TpuError(f"--asymmetric is for INT8: leave it out for {self.quantize}")
        if self.asymmetric and self.min_cosine is not None:
            raise TpuError(
                "--asymmetric takes ranges from end to end, and --min-cosine searches thresholds: "
                "leave one of them out"
            )
        if self.min_cosine is not None and self.calibrate_with is None:
            raise TpuError("--min-cosine needs samples: give --calibrate-with DIR, X.npz or random")
        if self.calibrate_with is None:
            return
        if self.quantize == "F32":
            raise TpuError("--calibrate-with is for formats narrower than F32: nothing is wider")
        if self.quantize == "BF16" and self.min_cosine is None:
            raise TpuError("--calibrate-with in BF16, which is as wide as F32, needs --min-cosine")
        if self.calibration_table is not None or self.quantize_table is not None:
            raise TpuError("--calibrate-with makes the tables itself; leave the tables out, or it")
        if self.weights is not None or self.transfer_layout is not None:
            raise TpuError(
                "--calibrate-with cannot be used with --weights or --transfer-layout; make a table "
                "with tpu-calibrate"
            )

    @property
    def quantization(self) -> Quantization:
        """The files of tables that were given."""
        tables = (self.calibration_table, self.quantize_table)
        files = ("" if one is None else str(one.absolute()) for one in tables)
        return self._packed(Quantization(*files, asymmetric=self.asymmetric))

    def _packed(self, tables: Quantization) -> Quantization:
        bits = bits_of(self.quantize)
        return replace(tables, weight_bits=bits, group=self.group or 0, symmetric=self.symmetric)


def build(
    request: Request, output: Path, on_stage: Callable[[str], None] = lambda stage: None
) -> tuple[Compilation, str]:
    """Compile into the folder `output`; also one line on the tables that were made on the way.

    Files appear there only when everything has succeeded. Raises TpuError, or an xDSL error for
    malformed IR.
    """
    request.check()
    with ExitStack() as stack:
        quantization, tables = request.quantization, None
        if request.calibrate_with is not None:
            from xdsl_tpu.tools.calibrated_compile import calibrated

            making = calibrated(
                request.model,
                request.calibrate_with,
                request.min_cosine,
                floats_of(request.quantize),
                request.chip,
                request.input_shapes,
                request.disable,
                on_stage,
                output,
            )
            made, tables = stack.enter_context(making)
            tables_of = replace(quantization, calibration_table=made.calibration_table)
            quantization = replace(tables_of, quantize_table=made.quantize_table)
        result = compile_model(
            request.model,
            output,
            floats_of(request.quantize),
            request.chip,
            request.input_shapes,
            request.disable,
            on_stage,
            quantization,
            request.weights,
            request.transfer_layout,
            request.command,
            request.cores,
        )
        if tables is not None:
            tables.write(output)
    return result, "" if tables is None else tables.note
