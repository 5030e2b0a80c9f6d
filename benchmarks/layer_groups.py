"""Cycles of whole networks with layer groups, next to the vendor's and to a bound.

usage: python benchmarks/layer_groups.py [--models NAME_OR_ONNX ...] [--quantize Q] [--json FILE]

A model is the name of an example or an ONNX file. Each is compiled by `tpu-compile` and run by
`tpu-run` on its bmodel; outputs are compared with onnxruntime. The floor is what no schedule
beats: all weights at DDR's peak rate, or all multiply-accumulates at the array's, whichever takes
longer. Exits with status 1 when a cosine is too low.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.text import read_module
from xdsl_tpu.passes.tensors import shape_of, size_in_bytes

EXAMPLES = Path(__file__).parents[1] / "examples"
TOOLS = Path(sys.executable).parent

VENDOR_CYCLES = {
    ("swin_t", "F16"): 3050233,
    ("vit_small_patch16_224", "F16"): 1463592,
    ("resnet50", "F16"): 1449589,
    ("mobilenetv2_100", "F16"): 568658,
    ("swin_t", "F32"): 34187620,
    ("vit_small_patch16_224", "F32"): 26305958,
    ("resnet50", "F32"): 5012026,
    ("mobilenetv2_100", "F32"): 781758,
}
"""What the vendor's compiler (tpu-mlir 1.30.2) estimates for its own programs."""

EXAMPLE_NAMES = tuple(dict.fromkeys(name for name, _ in VENDOR_CYCLES))

VENDOR_SECONDS = {"swin_t": 3.7}
"""From Top IR to bmodel, as measured for the vendor's compiler."""

ELEMENT_BYTES = {"F32": 4, "F16": 2, "BF16": 2}
WANTED_COSINE = {"F32": 0.99999, "F16": 0.9999, "BF16": 0.99}


@dataclass(frozen=True)
class Row:
    """One network; `compile_seconds` from Top IR to bmodel, files and checks included."""

    model: str
    quantize: str
    vendor_cycles: int | None
    floor_cycles: int
    cycles: int
    cosine: float
    compile_seconds: float
    import_seconds: float
    vendor_seconds: float | None
    groups: int
    grouped_ops: int
    wall_seconds: float

    @property
    def is_close(self) -> bool:
        """Whether the outputs are right."""
        return self.cosine >= WANTED_COSINE[self.quantize]


def floor(module: ModuleOp, quantize: str, chip: Chip) -> int:
    """Cycles below which no program can be, from a tpu module before weights are packed."""
    element = ELEMENT_BYTES[quantize]
    weights = sum(size_in_bytes(o.output) for o in module.walk() if isinstance(o, top.WeightOp))
    per_cycle = chip.lanes * chip.cube_channels[element] * chip.cube_outputs[element]
    macs = sum(_macs(op) for op in module.walk() if isinstance(op, tpu.Conv2DOp | tpu.MatMulOp))
    return math.ceil(max(weights / chip.load_bytes_per_cycle, macs / per_cycle))


def _macs(op: tpu.Conv2DOp | tpu.MatMulOp) -> int:
    if isinstance(op, tpu.Conv2DOp):
        channels = shape_of(op.input)[1] // op.group.value.data
        return math.prod(shape_of(op.output)) * channels * math.prod(ints(op.kernel_shape))
    left = shape_of(op.input)
    return math.prod(shape_of(op.output)) * left[-2 if bool(op.left_transpose) else -1]


def run(*command: str | Path) -> None:
    """A tool as a process of its own; its message and exit when it fails."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")


def measure(source: Path, quantize: str, folder: Path, disable: tuple[str, ...] = ()) -> Row:
    """Compile, run and compare one network."""
    out, report = folder / source.stem, folder / "report.json"
    start = time.perf_counter()
    off = [part for name in disable for part in ("--disable-pass", name)]
    run(TOOLS / "tpu-compile", source, "--quantize", quantize, "-o", out, "--quiet", *off)
    wall = time.perf_counter() - start
    arguments = ("--seed", "0", "--compare", source, "--report", report, "--quiet")
    run(TOOLS / "tpu-run", out / "model.bmodel", *arguments)
    result = json.loads(report.read_text())
    summary = json.loads((out / "compile.json").read_text())["seconds"]
    groups = [o for o in read_module(out / "final.mlir").walk() if isinstance(o, tpu.GroupOp)]
    transfers = (tpu.LoadOp, tpu.StoreOp, tpu.YieldOp)
    return Row(
        model=source.stem,
        quantize=quantize,
        vendor_cycles=VENDOR_CYCLES.get((source.stem, quantize)),
        floor_cycles=floor(read_module(out / "tpu.mlir"), quantize, load_chip()),
        cycles=result["cycles"],
        cosine=min(t["cosine"] for t in result["comparison"]["tensors"].values()),
        compile_seconds=sum(s for stage, s in summary.items() if "/" not in stage)
        - summary["import"],
        import_seconds=summary["import"],
        vendor_seconds=VENDOR_SECONDS.get(source.stem) if quantize == "F16" else None,
        groups=len(groups),
        grouped_ops=sum(
            not isinstance(op, transfers) for group in groups for op in group.body.block.ops
        ),
        wall_seconds=wall,
    )


def table(rows: list[Row]) -> Table:
    """All rows for the terminal."""
    shown = Table(title="layer groups")
    shown.add_column("model")
    headings = ("vendor", "floor", "ours", "ours/vendor", "ours/floor", "cosine", "compile s")
    for heading in (*headings, "vendor s", "groups", "ops in groups"):
        shown.add_column(heading, justify="right")
    for r in rows:
        ratio = f"{r.cycles / r.vendor_cycles:.2f}" if r.vendor_cycles else ""
        shown.add_row(
            f"{r.model} {r.quantize}",
            f"{r.vendor_cycles:,}" if r.vendor_cycles else "",
            f"{r.floor_cycles:,}",
            f"{r.cycles:,}",
            ratio,
            f"{r.cycles / r.floor_cycles:.2f}",
            f"{r.cosine:.7f}{'' if r.is_close else ' (missed)'}",
            f"{r.compile_seconds:.1f}",
            "" if r.vendor_seconds is None else f"{r.vendor_seconds}",
            str(r.groups),
            str(r.grouped_ops),
        )
    return shown


def source_of(model: str) -> Path:
    """The ONNX file of a name or a path; exits with a message when there is none."""
    for path in (Path(model), EXAMPLES / f"{model}.onnx"):
        if path.is_file() and path.suffix == ".onnx":
            return path
    sys.exit(f"{model}: neither an ONNX file nor an example ({', '.join(EXAMPLE_NAMES)})")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description="Cycles of networks with layer groups.")
    parser.add_argument("--models", nargs="+", default=list(EXAMPLE_NAMES), metavar="NAME_OR_ONNX")
    parser.add_argument("--quantize", choices=WANTED_COSINE, default="F16", type=str.upper)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    sources = [source_of(model) for model in args.models]
    console = Console()
    console.width = max(console.width, 150)  # figures are of no use cut off
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, console.status("") as status:
        for source in sources:
            status.update(source.stem)
            rows.append(measure(source, args.quantize, Path(folder)))
    console.print(table(rows))
    if args.json is not None:
        listed = [asdict(row) | {"is_close": row.is_close} for row in rows]
        args.json.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    sys.exit(not all(row.is_close for row in rows))


if __name__ == "__main__":
    main()
