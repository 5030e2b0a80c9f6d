"""What each stage of the Swin-Transformer optimisation is worth.

usage: python benchmarks/swin.py [--model ONNX] [--quantize Q] [-o FOLDER]

Compiles the network once per stage and prints cycles, bytes moved by the GDMA and how busy both
engines are. With `-o`, the timelines of the first and the last stage are written there: as
Perfetto files, and as one PNG when matplotlib is installed (`pip install xdsl-tpu[plots]`).
"""

import argparse
import importlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from networks import EXAMPLES, wide_console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report.perfetto import trace
from xdsl_tpu.backend.timing import Timeline, simulate
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.pipelines import STAGES as PIPELINE
from xdsl_tpu.passes.pipelines import Settings, patterns_of, run_stage

SWIN = EXAMPLES / "swin_t.onnx"

SPLIT = ("MatmulWithPermuteAndSplit", "SliceMatMul")
"""The three parts of the qkv MatMul are cut out by Slice and Squeeze, without transposes."""

PRODUCTS = ("ReshapeSliceSqueezePattern", "SplitMatMulPattern")
"""The three parts become MatMuls of their own; then there is nothing to cut out."""

FUSIONS = (
    "ConcatToSwapDimInner",
    "ConvertMatMulWithLeftTranspose",
    "ConvertMatMulWithOutputTranspose",
    "ConvertMatMulWithRightTranspose",
    "ErasePermuteAroundAdd",
    "FitPermute2Hdim",
    "MaskedFillPermuteMove",
    "MatMulHdimBatchPattern",
    "MatMulRemoveReshapePattern",
    "MovePermuteAfterAdd",
    "MulConstBeforePermute",
    "PermuteAddWeightReorderPattern",
    "PermuteFuse",
    "PermuteFuse2",
    "PermuteFuseAddSoftmax",
    "PermuteFuseAddSoftmaxSlice",
    "PermuteMulconstSwap",
    "PermutePadSwap",
    "PermuteReorderPattern",
    "PermuteReshapeFuse",
    "PermuteReshapeFuse2",
    "PermuteTileSwap",
    "PermuteToReshape",
    "RemovePermute",
    "Reshape4Depth2SpacePattern",
    "ReshapePermuteFuse",
    "ReshapeReorderPattern",
    "TopAddReshapeSwap",
    "TopFuseReshape2",
    "TopFuseReshape3",
    "TopMultiSwapDimMergeToOne",
    "TopPermuteToPixelShuffle",
    "TopReshapeFuse",
    "TopReshapeFuse2",
)
"""Transposes that meet, move, or go into the op beside them."""


@dataclass(frozen=True)
class Stage:
    """What is switched off, and the options of `layer-group`."""

    title: str
    without: tuple[str, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict[str, str])


NO_GROUPS = {"opt": "0"}
WHOLE_WEIGHTS = {"split_weights": "false"}

STAGES = (
    Stage("nothing", (*SPLIT, *FUSIONS, *PRODUCTS), NO_GROUPS),
    Stage("+ MatmulWithPermuteAndSplit", (*FUSIONS, *PRODUCTS), NO_GROUPS),
    Stage("+ other fusions", PRODUCTS, NO_GROUPS),
    Stage("+ groups", PRODUCTS, {**WHOLE_WEIGHTS, "keep_global": "tpu.Slice,tpu.Squeeze"}),
    Stage("+ Slice 5-D local", PRODUCTS, {**WHOLE_WEIGHTS, "keep_global": "tpu.Squeeze"}),
    Stage("+ Squeeze local", PRODUCTS, WHOLE_WEIGHTS),
    Stage("+ weight split", PRODUCTS),
    Stage("+ three MatMuls: everything"),
)
"""Slice alone moves no boundary: a Squeeze follows each, so it gains with the stage after it."""


@dataclass(frozen=True)
class Result:
    """A program and when its commands run."""

    stage: Stage
    program: Program
    timeline: Timeline

    def busy(self, engine: Engine) -> float:
        """The share of the time in which an engine works."""
        return self.timeline.busy[engine] / self.timeline.total


def compiled(source: Path, stage: Stage, quantize: str, chip: Chip) -> Result:
    """One stage's program, simulated."""
    module = import_onnx(source)
    for name in ("top", "tpu"):
        run_stage(module, name, Settings(quantize, chip.instruction_set, stage.without))
    finish(module, stage)
    program = generate(module, weights_of(module), chip)
    return Result(stage, program, simulate(program.tiu, program.gdma, chip))


def finish(module: ModuleOp, stage: Stage) -> None:
    """The passes of the last stage, with the options of this one."""
    for name in PIPELINE["final"]:
        if name == "turn-products" and stage.groups == NO_GROUPS:
            continue  # what it puts in front of products must not leave the chip
        off = sorted(patterns_of(name).intersection(stage.without))
        options = f"disable={','.join(off)}" if off else ""
        if name == "order-rows" and stage.groups != NO_GROUPS:
            options = "in_lanes=true"
        if name == "layer-group":
            options = " ".join(f"{key}={shlex.quote(v)}" for key, v in stage.groups.items())
        make_pass(name, options).apply(make_context(), module)
        module.verify()


def table(results: Sequence[Result], title: str) -> Table:
    """All stages for the terminal."""
    shown = Table(title=title)
    shown.add_column("stage", no_wrap=True)
    for heading in ("cycles", "faster", "GDMA MB", "TIU busy", "GDMA busy"):
        shown.add_column(heading, justify="right")
    for r in results:
        shown.add_row(
            r.stage.title,
            f"{r.timeline.total:,}",
            f"{results[0].timeline.total / r.timeline.total:.2f}x",
            f"{sum(r.timeline.bytes_moved.values()) / 1e6:.1f}",
            f"{r.busy(Engine.TIU):.0%}",
            f"{r.busy(Engine.GDMA):.0%}",
        )
    return shown


PIXELS = 1400
"""Columns of the picture; each shows the share of its time in which an engine works."""


def shares(timeline: Timeline, engine: Engine, end: int) -> npt.NDArray[np.float64]:
    """The share of each of `PIXELS` equal parts of `end` cycles in which the engine works."""
    events = timeline.events[engine]
    times = np.array([t for event in events for t in (event.start, event.start + event.cycles)])
    cycles = np.array([event.cycles for event in events])
    done = np.cumsum(np.column_stack((np.zeros_like(cycles), cycles)).ravel())
    edges = np.linspace(0, end, PIXELS + 1)
    return np.diff(np.interp(edges, times, done)) * PIXELS / end


def plot(results: Sequence[Result], path: Path) -> None:
    """How busy both engines are over time, one strip per program; a message without matplotlib."""
    try:
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        print(f"{path.name} is not drawn: pip install xdsl-tpu[plots]", file=sys.stderr)
        return
    pyplot.switch_backend("agg")
    figure, axes = pyplot.subplots(len(results), 1, sharex=True, figsize=(14, 2 * len(results)))
    end = max(result.timeline.total for result in results)
    middles = (np.arange(PIXELS) + 0.5) * end / PIXELS / 1e6
    for axis, result in zip(axes, results, strict=True):
        for row, engine in enumerate(Engine):
            busy = row + 0.8 * shares(result.timeline, engine, end)
            axis.fill_between(middles, row, busy, step="mid", linewidth=0, color=f"C{row}")
        names = [f"{engine.name}\n{result.busy(engine):.0%} busy" for engine in Engine]
        axis.set_yticks([0.4, 1.4], names)
        axis.set_xlim(0, end / 1e6)
        axis.set_ylim(-0.1, 1.9)
        title = result.stage.title.removeprefix("+ ")
        axis.set_title(f"{title}: {result.timeline.total:,} cycles", loc="left")
    axes[-1].set_xlabel("million cycles")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main() -> None:
    """Compile all stages, print, write."""
    parser = argparse.ArgumentParser(description="Stages of the Swin-Transformer optimisation.")
    parser.add_argument("--model", type=Path, default=SWIN)
    parser.add_argument("--quantize", choices=("F32", "F16", "BF16"), default="F16", type=str.upper)
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER")
    args = parser.parse_args()
    if not args.model.is_file():
        sys.exit(f"{args.model}: no such file")
    chip = load_chip()
    console = wide_console(100)
    results: list[Result] = []
    try:
        with console.status("") as status:
            for stage in STAGES:
                status.update(stage.title)
                results.append(compiled(args.model, stage, args.quantize, chip))
    except TpuError as error:
        sys.exit(str(error))
    console.print(table(results, f"{args.model.stem} {args.quantize}"))
    if args.output is None:
        return
    args.output.mkdir(parents=True, exist_ok=True)
    ends = (results[0], results[-1])
    for name, result in zip(("before", "after"), ends, strict=True):
        text = trace(result.program, [result.timeline], chip)
        (args.output / f"{name}.perfetto.json").write_text(text, encoding="utf-8")
    plot(ends, args.output / "timelines.png")


if __name__ == "__main__":
    main()
