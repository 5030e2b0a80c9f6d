"""OneFlow jobs: what fusing bias_add and dropout saves, and how they run on BM1684X.

usage: python benchmarks/oneflow.py [--jobs FILE.mlir ...] [--rates P ...] [--quantize F32 F16]
                                    [--seed N] [--json FILE]

Without --jobs these are the job of the published fusion at each of the rates, and small networks
with random weights. A job of one's own that has variables needs them in FILE.npz beside it. Each is
measured as it is, after fuse-bias-add-dropout, and compiled with transfer-layout in addition:

- ops, and the bytes that their operands and results have (what they move when each reads and writes
  memory);
- whether the interpreter gives the same results after the pass, bit by bit;
- cycles of the compiled program, and how far it is from the interpreter, relative to the largest
  result.

Exit status 1 when results are not the same, the program is further off than its number format
explains, a fusion does not save bytes, or the fusion or transfer-layout cost cycles.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import numpy.typing as npt  # noqa: E402
from figures import json_file, write_json  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from tests.oneflow.jobs import NETWORKS, job  # noqa: E402
from xdsl.dialects.builtin import ModuleOp, TensorType  # noqa: E402
from xdsl.ir import Attribute, Operation  # noqa: E402
from xdsl.utils.hints import isa  # noqa: E402

from xdsl_tpu.backend.chip import load_chip  # noqa: E402
from xdsl_tpu.backend.execute import random_inputs, run_program  # noqa: E402
from xdsl_tpu.backend.program import Program  # noqa: E402
from xdsl_tpu.backend.timing import simulate  # noqa: E402
from xdsl_tpu.dialects.errors import TpuError  # noqa: E402
from xdsl_tpu.dialects.interpreters import run_module  # noqa: E402
from xdsl_tpu.dialects.oneflow import (  # noqa: E402
    FusedBiasAddMaskScaleOp,
    InputOp,
    OneFlowOp,
    OutputOp,
    VariableOp,
)
from xdsl_tpu.dialects.text import make_context, print_module, read_module  # noqa: E402
from xdsl_tpu.dialects.weights import weights_of  # noqa: E402
from xdsl_tpu.passes.layout.costs import type_bytes  # noqa: E402
from xdsl_tpu.passes.pipeline import make_pass  # noqa: E402
from xdsl_tpu.tools.compile_model import compile_model  # noqa: E402
from xdsl_tpu.tools.module_weights import attach_to_model  # noqa: E402

Array = npt.NDArray[Any]

PUBLISHED = ROOT / "tests" / "data" / "oneflow" / "bias_add_dropout.mlir"
PUBLISHED_RATE = "rate = 1.000000e+00"
RATES = (0.0, 0.1, 0.5, 1.0)
TOLERANCE = {"F32": 2e-6, "F16": 6e-3}
"""How far results may be from the interpreter's in f32, relative to the largest."""


@dataclass
class Row:
    """One job in one form and number format."""

    job: str
    form: str
    fusions: int
    ops: int
    bytes: int
    same_bits: bool
    quantize: str
    cycles: int
    error: float


def default_jobs(folder: Path, rates: Sequence[float]) -> Iterator[Path]:
    """The published job at several rates and the networks, as files in `folder`."""
    text = PUBLISHED.read_text(encoding="utf-8")
    for rate in rates:
        path = folder / f"published, p = {rate:g}.mlir"
        path.write_text(text.replace(PUBLISHED_RATE, f"rate = {rate:.9e}"), encoding="utf-8")
        yield path
    for name, build in NETWORKS.items():
        module = job(build)
        weights_of(module).save(folder / f"{name}.npz")
        del module.attributes["module.weight_file"]
        yield written(module, folder / f"{name}.mlir")


def written(module: ModuleOp, path: Path) -> Path:
    """The file with the text of a job."""
    with path.open("w", encoding="utf-8") as stream:
        print_module(module, stream)
    return path


def measure(path: Path, formats: Sequence[str], seed: int, folder: Path) -> Iterator[Row]:
    """A job as it is and fused, in each number format."""
    plain = _read(path, path)
    fused_file = folder / f"{path.stem} fused.mlir"
    fused = _read(path, path)
    make_pass("fuse-bias-add-dropout").apply(make_context(), fused)
    fused.verify()
    written(fused, fused_file)
    inputs: dict[str, Array] | None = None
    expected: list[Array] = []
    forms = (
        ("as it is", plain, path, None),
        ("fused", fused, fused_file, None),
        ("+ transfer-layout", fused, fused_file, "target=NCHW cost=cycles"),
    )
    for form, module, file, layout in forms:
        for quantize in formats:
            program = compile_model(
                file,
                folder / "out",
                quantize,
                "bm1684x",
                weights=_weights(path),
                transfer_layout=layout,
            ).program
            inputs = random_inputs(program, seed) if inputs is None else inputs
            results = list(run_module(module, inputs).values())
            expected = expected or results
            same = all(a.tobytes() == b.tobytes() for a, b in zip(results, expected, strict=True))
            cycles, error = _run(program, inputs, results)
            fusions = sum(isinstance(op, FusedBiasAddMaskScaleOp) for op in module.walk())
            ops = list(_computing(module))
            size = sum(map(_bytes, ops))
            yield Row(path.stem, form, fusions, len(ops), size, same, quantize, cycles, error)


def _read(file: Path, weights_beside: Path) -> ModuleOp:
    module = read_module(file)
    attach_to_model(module, weights_beside, _weights(weights_beside))
    return module


def _weights(path: Path) -> Path | None:
    beside = path.with_suffix(".npz")
    return beside if beside.is_file() else None


def _run(program: Program, inputs: dict[str, Array], expected: list[Array]) -> tuple[int, float]:
    """Cycles, and the largest error relative to the largest result."""
    chip = load_chip("bm1684x")
    found = list(run_program(program, chip, inputs).values())
    errors = [
        float(np.abs(one - other).max() / max(1.0, np.abs(other).max()))
        for one, other in zip(found, expected, strict=True)
    ]
    return simulate(program.tiu, program.gdma, chip).total, max(errors)


def _computing(module: ModuleOp) -> Iterator[Operation]:
    for op in module.walk():
        if isinstance(op, OneFlowOp) and not isinstance(op, InputOp | OutputOp | VariableOp):
            yield op


def _bytes(op: Operation) -> int:
    """Bytes of the operands of an op and of those of its results that are read."""
    results = [result.type for result in op.results if result.first_use is not None]
    kinds = [*op.operand_types, *results]
    return sum(type_bytes(kind) for kind in kinds if isa(kind, TensorType[Attribute]))


def broken(rows: Sequence[Row]) -> list[str]:
    """The promises that are not kept, in words."""
    found: list[str] = []
    before = {row.job: row for row in rows if row.form == "as it is"}
    for row in rows:
        place = f"{row.job}, {row.form}, {row.quantize}"
        if not row.same_bits:
            found.append(f"{place}: the interpreter gives other results after the pass")
        if not row.error <= TOLERANCE[row.quantize]:
            found.append(f"{place}: the program is {row.error:.2g} from the interpreter")
        if row.fusions > before[row.job].fusions and row.bytes >= before[row.job].bytes:
            found.append(f"{place}: the fusion saves no bytes")
        plain = next(r for r in rows if (r.job, r.quantize) == (row.job, row.quantize))
        if row.cycles > plain.cycles:
            found.append(f"{place}: more cycles than as it is")
    return found


def table(rows: Sequence[Row]) -> Table:
    """All jobs for the terminal."""
    shown = Table(title="OneFlow jobs on BM1684X")
    for heading in ("job", "form"):
        shown.add_column(heading)
    for heading in ("fused", "ops", "bytes", "same bits", "format", "cycles", "error"):
        shown.add_column(heading, justify="right")
    for r in rows:
        same = "yes" if r.same_bits else "NO"
        figures = (f"{r.ops}", f"{r.bytes:,}", same, r.quantize, f"{r.cycles:,}", f"{r.error:.1e}")
        shown.add_row(r.job, r.form, f"{r.fusions}", *figures)
    return shown


def main() -> None:
    """Measure, print, and exit with status 1 when a promise is broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", nargs="+", type=Path, metavar="FILE.mlir")
    parser.add_argument("--rates", nargs="+", type=float, default=RATES, metavar="P")
    parser.add_argument("--quantize", nargs="+", choices=TOLERANCE, default=["F32", "F16"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=json_file)
    args = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            for path in args.jobs or default_jobs(folder, args.rates):
                rows += measure(path, args.quantize, args.seed, folder)
        except (TpuError, OSError) as error:
            sys.exit(f"error: {error}")
    console = Console()
    console.width = max(console.width, 125)  # figures are of no use cut off
    console.print(table(rows))
    problems = broken(rows)
    for problem in problems:
        console.print(f"broken promise: {problem}", highlight=False)
    if args.json is not None:
        figures = {"jobs": [asdict(row) for row in rows], "broken": problems}
        write_json(args.json, figures)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
