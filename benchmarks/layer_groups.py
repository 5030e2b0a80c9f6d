"""Cycles of whole networks with layer groups, next to the vendor's and to a bound.

usage: python benchmarks/layer_groups.py [--models NAME_OR_ONNX ...] [--quantize Q] [--json FILE]

A model is the name of an example or an ONNX file. Each is compiled by `tpu-compile` and run by
`tpu-run` on its bmodel; outputs are compared with onnxruntime. The floor is what no schedule
beats: all weights at DDR's peak rate, or all multiply-accumulates at the array's, whichever takes
longer. Exits with status 1 when a cosine is too low or a network fails; the others still run.
"""

import argparse
import math
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from figures import json_file, write_json
from networks import (
    EXAMPLE_NAMES,
    VENDOR_CYCLES,
    WANTED_COSINE,
    ToolFailure,
    compiled,
    executed,
    lowest_cosine,
    source_of,
    wide_console,
)
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.text import read_module
from xdsl_tpu.passes.tensors import shape_of, size_in_bytes

VENDOR_SECONDS = {"swin_t": 3.7}
"""From Top IR to bmodel, as measured for the vendor's compiler."""

ELEMENT_BYTES = {"F32": 4, "F16": 2, "BF16": 2}


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


def measure(source: Path, quantize: str, folder: Path) -> Row:
    """Compile, run and compare one network."""
    out = folder / source.stem
    wall, seconds = compiled(source, quantize, out)
    _, report = executed(source, out, seed=0)
    groups = [o for o in read_module(out / "final.mlir").walk() if isinstance(o, tpu.GroupOp)]
    transfers = (tpu.LoadOp, tpu.StoreOp, tpu.YieldOp)
    return Row(
        model=source.stem,
        quantize=quantize,
        vendor_cycles=VENDOR_CYCLES.get((source.stem, quantize)),
        floor_cycles=floor(read_module(out / "tpu.mlir"), quantize, load_chip()),
        cycles=report["cycles"],
        cosine=lowest_cosine(report),
        compile_seconds=sum(s for stage, s in seconds.items() if "/" not in stage)
        - seconds["import"],
        import_seconds=seconds["import"],
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


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description="Cycles of networks with layer groups.")
    parser.add_argument("--models", nargs="+", default=list(EXAMPLE_NAMES), metavar="NAME_OR_ONNX")
    parser.add_argument("--quantize", choices=WANTED_COSINE, default="F16", type=str.upper)
    parser.add_argument("--json", type=json_file)
    args = parser.parse_args()
    console = wide_console(150)
    rows: list[Row] = []
    failed = False
    with tempfile.TemporaryDirectory() as folder, console.status("") as status:
        for model in args.models:
            status.update(model)
            try:
                rows.append(measure(source_of(model), args.quantize, Path(folder)))
            except ToolFailure as failure:
                failed = True
                print(f"{model}: {failure}", file=sys.stderr)
    console.print(table(rows))
    write_json(args.json, [asdict(row) | {"is_close": row.is_close} for row in rows])
    sys.exit(failed or not all(row.is_close for row in rows))


if __name__ == "__main__":
    main()
