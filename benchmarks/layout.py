"""Layout assignment: is it optimal, what does it save on real networks, and does it pay in cycles?

usage: python benchmarks/layout.py [--models NAME|FILE ...] [--compile NAME|FILE ...] [--graphs N]
                                   [--seed N] [--quantize F16] [--json FILE]

Four tables:
- random graphs: the minimum cut against all assignments tried, OneFlow's greedy rule and the arc
  weights that Paddle published;
- the convolutions of a ResNet-101, the network of the auto-NHWC article, as a OneFlow job;
- real networks, as they are and in the form that a TensorFlow exporter leaves (transpositions
  around each op that must be channel-first): transpositions and bytes;
- cycles on BM1684X of the networks after --compile (resnet50 unless others are named): exported
  channel-last, the same after transfer-layout, and channel-first.

Models are .onnx files or names of those in examples/. Seconds are CPU time. Exit status 1 when a
promise is broken: the minimum cut is not optimal, or worse than the greedy rule, it takes more than
5 s, or the pass does not pay for itself or ends more than 3 % above the channel-first network.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from figures import json_file, write_json  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from tests.layout.channel_last import make_channel_last  # noqa: E402
from tests.layout.conv_stack import conv_stack  # noqa: E402
from xdsl.dialects.builtin import ModuleOp, StringAttr  # noqa: E402

from xdsl_tpu.backend.chip import load_chip  # noqa: E402
from xdsl_tpu.backend.timing import simulate  # noqa: E402
from xdsl_tpu.dialects.errors import TpuError  # noqa: E402
from xdsl_tpu.dialects.text import make_context, print_module  # noqa: E402
from xdsl_tpu.dialects.weights import WEIGHT_FILE, attach, weights_of  # noqa: E402
from xdsl_tpu.frontend.onnx import import_onnx  # noqa: E402
from xdsl_tpu.passes.layout.comparison import (  # noqa: E402
    exhaustive,
    published_labels,
    random_problem,
)
from xdsl_tpu.passes.layout.count import transpositions  # noqa: E402
from xdsl_tpu.passes.layout.greedy import greedy_labels  # noqa: E402
from xdsl_tpu.passes.layout.min_cut import minimum_cut  # noqa: E402
from xdsl_tpu.passes.layout.problem import Problem, total_cost  # noqa: E402
from xdsl_tpu.passes.pipeline import make_pass  # noqa: E402
from xdsl_tpu.tools.compile_model import compile_model  # noqa: E402

EXAMPLES = ROOT / "examples"
MODELS = ("sd15_unet_narrow", "resnet50")
SECONDS, ABOVE_NATIVE = 5.0, 1.03
"""What is promised: CPU time on one network, and cycles against the channel-first form."""

CYCLES = "transfer-layout target=NCHW cost=cycles"


@dataclass
class RandomGraphs:
    """One way of choosing layouts on all random graphs, against the best there is."""

    way: str
    graphs: int
    not_optimal: int
    transpositions: int
    best: int
    worst: int


@dataclass
class Assignment:
    """A network after one pass."""

    model: str
    form: str
    passes: str
    transpositions: int
    bytes: int
    seconds: float


@dataclass
class Compiled:
    """A network in one form, compiled."""

    model: str
    form: str
    cycles: int


def random_graphs(graphs: int, seed: int) -> list[RandomGraphs]:
    """Plain graphs, where every transposition costs 1, and weighted ones."""
    plain = [random_problem(random.Random(f"{seed}:{n}"), plain=True) for n in range(graphs)]
    rows = [
        RandomGraphs(way, graphs, 0, 0, 0, 0) for way in ("minimum cut", "greedy", "published arcs")
    ]
    for problem, current in plain:
        best = exhaustive(problem).first
        answers = (
            minimum_cut(problem, 1).labels,
            greedy_labels(problem, current, 1),
            published_labels(problem),
        )
        for row, labels in zip(rows, answers, strict=True):
            _add(row, problem, labels, best)
    weighted = RandomGraphs("minimum cut, weighted", graphs, 0, 0, 0, 0)
    for number in range(graphs):
        problem, _ = random_problem(random.Random(f"{seed}:w{number}"), plain=False)
        _add(weighted, problem, minimum_cut(problem).labels, exhaustive(problem).first)
    return [*rows, weighted]


def _add(row: RandomGraphs, problem: Problem, labels: Sequence[int], best: int) -> None:
    cost = total_cost(problem, labels)
    assert cost is not None
    row.not_optimal += cost.first != best
    row.transpositions += cost.first
    row.best += best
    row.worst = max(row.worst, cost.first - best)


def article_stack() -> list[Assignment]:
    """The ResNet-101 stack: transpositions around every op, and what the passes make of it."""
    passes = (
        "none",
        "auto-nhwc",
        "transfer-layout target=NHWC strategy=greedy",
        "transfer-layout target=NHWC",
    )
    return [
        assigned("ResNet-101 stack", form, one, conv_stack(surrounded=surrounded))
        for form, surrounded in (("NCHW", False), ("around every op", True))
        for one in passes
    ]


def assigned(model: str, form: str, passes: str, module: ModuleOp) -> Assignment:
    """Apply one pass to `module` and measure."""
    name, _, options = passes.partition(" ")
    start = time.process_time()
    if name != "none":
        make_pass(name, options).apply(make_context(), module)
    seconds = time.process_time() - start
    module.verify()
    found = transpositions(module)
    return Assignment(model, form, passes, found.count, found.bytes, seconds)


def imported(path: Path, channel_last: bool) -> ModuleOp:
    """A network as the importer leaves it, with known shapes, in one of the two forms."""
    module = import_onnx(path)
    make_pass("shape-infer").apply(make_context(), module)
    if channel_last:
        make_channel_last(module)
        module.verify()
    return module


def real_network(path: Path) -> list[Assignment]:
    """Both forms of a network, with no pass, the greedy rule and the minimum cut."""
    ways = ("none", "strategy=greedy", "cost=count", "cost=bytes")
    rows: list[Assignment] = []
    for form, last in (("NCHW", False), ("NHWC", True)):
        module = imported(path, last)
        for way in ways:
            copy = module.clone()
            attach(copy, weights_of(module))
            passes = way if way == "none" else f"transfer-layout target=NCHW {way}"
            rows.append(assigned(path.stem, form, passes, copy))
    return rows


def compiled(path: Path, quantize: str, folder: Path) -> list[Compiled]:
    """Cycles of the channel-last form without and with the pass, and of the network itself."""
    module = imported(path, True)
    file = folder / f"{path.stem}_channel_last.mlir"
    weights_of(module).save(file.with_suffix(".npz"))
    module.attributes[WEIGHT_FILE] = StringAttr(file.with_suffix(".npz").name)
    with file.open("w", encoding="utf-8") as stream:
        print_module(module, stream)
    forms = (
        ("NHWC", file, None),
        ("NHWC, " + CYCLES, file, CYCLES.partition(" ")[2]),
        ("NCHW", path, None),
    )
    chip = load_chip("bm1684x")
    rows: list[Compiled] = []
    for form, source, options in forms:
        output = folder / f"{path.stem}_{len(rows)}"
        program = compile_model(
            source, output, quantize, "bm1684x", transfer_layout=options
        ).program
        cycles = simulate(program.tiu, program.gdma, chip).total
        rows.append(Compiled(path.stem, form, cycles))
    return rows


def broken(
    graphs: Sequence[RandomGraphs], real: Sequence[Assignment], cycles: Sequence[Compiled]
) -> list[str]:
    """The promises that are not kept, in words."""
    found = [
        f"{row.way}: {row.not_optimal} of {row.graphs} graphs are not optimal"
        for row in graphs
        if row.way.startswith("minimum cut") and row.not_optimal
    ]
    for place in dict.fromkeys((row.model, row.form) for row in real):
        rows = {row.passes.split()[-1]: row for row in real if (row.model, row.form) == place}
        none, greedy = rows["none"], rows["strategy=greedy"]
        count, size = rows["cost=count"], rows["cost=bytes"]
        if count.transpositions > min(greedy.transpositions, none.transpositions):
            found.append(f"{place}: the minimum cut has more transpositions than the greedy rule")
        if size.bytes > min(greedy.bytes, none.bytes):
            found.append(f"{place}: the minimum cut moves more bytes than the greedy rule")
        if max(count.seconds, size.seconds) > SECONDS:
            found.append(f"{place}: the pass takes more than {SECONDS} s")
    for model in dict.fromkeys(row.model for row in cycles):
        without, after, native = (row.cycles for row in cycles if row.model == model)
        if after > without:
            found.append(f"{model}: the pass does not pay for itself")
        if after > ABOVE_NATIVE * native:
            found.append(f"{model}: {after / native:.3f} of the cycles of the channel-first form")
    return found


def graphs_table(rows: Sequence[RandomGraphs]) -> Table:
    """Random graphs for the terminal."""
    table = _table("random graphs", "", "graphs", "not optimal", "cost", "best", "more", "worst")
    for r in rows:
        more = f"{r.transpositions / max(r.best, 1) - 1:+.1%}"
        share = f"{r.not_optimal:,} ({r.not_optimal / max(r.graphs, 1):.1%})"
        figures = (f"{r.graphs:,}", share, f"{r.transpositions:,}", f"{r.best:,}", more)
        table.add_row(r.way, *figures, f"+{r.worst}")
    return table


def assignment_table(title: str, rows: Sequence[Assignment]) -> Table:
    """Networks for the terminal."""
    table = _table(title, "model", "form", "pass", "transpositions", "bytes", "CPU s", text=3)
    for r in rows:
        figures = (f"{r.transpositions:,}", f"{r.bytes:,}", f"{r.seconds:.2f}")
        table.add_row(r.model, r.form, r.passes, *figures)
    return table


def cycles_table(rows: Sequence[Compiled]) -> Table:
    """Compiled networks for the terminal."""
    table = _table("BM1684X", "model", "form", "cycles", "of NCHW", text=2)
    natives = {row.model: row.cycles for row in rows if row.form == "NCHW"}
    for r in rows:
        table.add_row(r.model, r.form, f"{r.cycles:,}", f"{r.cycles / natives[r.model]:.4f}")
    return table


def _table(title: str, *headings: str, text: int = 1) -> Table:
    table = Table(title=title)
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="left" if index < text else "right")
    return table


def path_of(name: str) -> Path:
    """A model by name or file."""
    path = Path(name) if name.endswith(".onnx") else EXAMPLES / f"{name}.onnx"
    if not path.is_file():
        raise TpuError(f"{path} does not exist: give an .onnx file or a name from {EXAMPLES.name}/")
    return path


def main() -> None:
    """Measure, print, and exit with status 1 when a promise is broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--models", nargs="+", default=MODELS, metavar="NAME|FILE")
    parser.add_argument("--compile", nargs="*", default=("resnet50",), metavar="NAME|FILE")
    parser.add_argument("--graphs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quantize", choices=("F32", "F16", "BF16"), default="F16")
    parser.add_argument("--json", type=json_file)
    args = parser.parse_args()
    try:
        sys.exit(run(args))
    except TpuError as error:
        sys.exit(f"error: {error}")


def run(args: argparse.Namespace) -> int:
    """Everything; the exit status."""
    console = Console()
    console.width = max(console.width, 120)  # figures are of no use cut off
    models = [path_of(name) for name in args.models]
    to_compile = [path_of(name) for name in args.compile]
    graphs = random_graphs(args.graphs, args.seed)
    console.print(graphs_table(graphs))
    stack = article_stack()
    console.print(assignment_table("convolutions of ResNet-101", stack))
    real = [row for path in models for row in real_network(path)]
    console.print(assignment_table("networks", real))
    cycles, refused = _compile_all(to_compile, args.quantize)
    console.print(cycles_table(cycles))
    for model, reason in refused.items():
        console.print(f"{model} is not compiled: {reason}", highlight=False)
    problems = broken(graphs, real, cycles)
    for problem in problems:
        console.print(f"broken promise: {problem}", highlight=False)
    if args.json is not None:
        tables = {"random_graphs": graphs, "stack": stack, "networks": real, "cycles": cycles}
        figures: dict[str, Any] = {key: [asdict(r) for r in rows] for key, rows in tables.items()}
        figures |= {"not_compiled": refused, "broken": problems}
        write_json(args.json, figures)
    return int(bool(problems))


def _compile_all(models: Sequence[Path], quantize: str) -> tuple[list[Compiled], dict[str, str]]:
    """Cycles of the networks, and why others cannot be compiled."""
    rows: list[Compiled] = []
    refused: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in models:
            try:
                rows += compiled(path, quantize, Path(folder))
            except TpuError as error:
                refused[path.stem] = str(error).partition("\n")[0]
    return rows, refused


if __name__ == "__main__":
    main()
