"""Times of whole language models on the cycle model, beside the vendor's and what bounds them.

    python benchmarks/llm.py [--model NAME|FOLDER] [--quantize W4F16] [--head W8] [--seq 512]
                             [--tokens 1] [--history 0] [--json FILE]

A model is one of the published configurations with seeded weights, or the folder of a Hugging Face
model. Layers alike are compiled once: the first one and the last, which ends with the final norm,
stand for all. Nothing is simulated but time. The floor is what bytes or products alone take: every
weight, the history, states and mask moved once at 54 bytes a cycle, or all multiply-accumulates of
the whole square of scores at full rate.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from figures import json_file, write_json
from llm_models import CONFIGURATIONS, SeededModel
from llm_vendor import VENDOR
from xdsl.dialects.builtin import AnyFloat, ModuleOp

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.llm.formats import FORMATS, HEADS, WeightFormat
from xdsl_tpu.frontend.llm.model import LanguageModel, open_model
from xdsl_tpu.frontend.llm.nets import (
    block_cache_net,
    block_net,
    check_length,
    head_net,
    history_net,
)
from xdsl_tpu.frontend.llm.stages import Block
from xdsl_tpu.passes.pipelines import STAGES, Settings, pipeline, run_passes
from xdsl_tpu.passes.tensors import element_of, functions, shape_of, size_in_bytes

CHIP = "bm1684x"
FLOAT_BYTES = 2


@dataclass(frozen=True)
class Needs:
    """What a net must move and multiply."""

    bytes: int
    macs: int

    def cycles(self, chip: Chip) -> float:
        """The larger of both at their rates."""
        ddr = self.bytes / (chip.load_bytes_per_cycle / chip.tensor_derate)
        return max(ddr, self.macs / chip.array_peak(2))


@dataclass(frozen=True)
class Net:
    """One net on the cycle model."""

    name: str
    cycles: int
    floor: float
    tiu: int
    gdma: int


def needs_of(module: ModuleOp) -> Needs:
    """Those of a lowered module; tables of angles are not counted, of which rows are read."""
    weights = {
        name_of(op) or "": size_in_bytes(op.output)
        for op in module.walk()
        if isinstance(op, top.WeightOp) and not (name_of(op) or "").startswith("rotary")
    }
    arguments = [one for func in functions(module) for one in func.body.block.args]
    inputs = sum(
        math.prod(shape_of(one)) * (FLOAT_BYTES if isinstance(element_of(one), AnyFloat) else 4)
        for one in arguments
    )
    return Needs(sum(weights.values()) + inputs, sum(map(_macs, module.walk())))


def _macs(op: object) -> int:
    if isinstance(op, tpu.A16MatMulOp | tpu.MatMulOp):
        left, right = shape_of(op.input), shape_of(op.output)
        return math.prod(right) * left[-1]
    if isinstance(op, tpu.FAttentionOp):
        sizes = (op.batch, op.q_head, op.mq, op.mk, op.dim)
        return 2 * math.prod(size.value.data for size in sizes)
    return 0


def measured(module: ModuleOp, floats: str, wide: bool = False) -> Net:
    """Compile a net, whose inputs and, if not `wide`, outputs are in the type it computes in, and
    run it on the cycle model."""
    chip, needs = load_chip(CHIP), Needs(0, 0)
    settings = Settings(floats, CHIP, shortfall=False, inner_io=True, f32_results=wide)
    for stage in STAGES:
        list(run_passes(module, pipeline(stage, settings), stage))
        if stage == "tpu":
            needs = needs_of(module)
    program = generate(module, weights_of(module), chip)
    timeline = simulate(program.tiu, program.gdma, chip)
    busy = {engine.value: cycles for engine, cycles in timeline.busy.items()}
    name = module.sym_name.data if module.sym_name is not None else ""
    return Net(name, timeline.total, needs.cycles(chip), busy["TIU"], busy["GDMA"])


@dataclass(frozen=True)
class Phase:
    """A first and a last block, and what goes with them once."""

    name: str
    first: Net
    last: Net
    layers: int
    once: Net | None = None

    def total(self, of: Callable[[Net], float]) -> float:
        """A figure of all layers, and of what goes with them."""
        blocks = (self.layers - 1) * of(self.first) + of(self.last)
        return blocks + (0 if self.once is None else of(self.once))


def phases(model: LanguageModel, length: int, tokens: int, before: int = 0) -> Iterator[Phase]:
    """Steps of `tokens` behind `length` tokens of history, and `length` tokens of a prompt behind
    the `before` first ones."""
    floats, layers = model.format.floats, model.config.layers
    head = measured(head_net(model, tokens), floats, wide=True)
    for name in ("decode", "prefill"):
        nets: list[Net] = []
        for index in (0, layers - 1):
            if name == "decode":
                net = block_cache_net(model, index, length, rows=tokens)
            elif before:
                net = history_net(model, "block_kv", Block(index, length, before, before + length))
            else:
                net = block_net(model, index, length)
            nets.append(measured(net, floats))
        first, last = nets
        told = "chunk" if before and name == "prefill" else name
        yield Phase(told, first, last, layers, head if name == "decode" else None)


def table(label: str, found: list[Phase], key: tuple[str, str, int]) -> Iterator[str]:
    """Lines for a terminal."""
    vendor = VENDOR.get(key, {})
    yield f"{label}"
    row = "{:<18}{:>14}{:>14}{:>8}{:>14}{:>8}"
    yield row.format("", "cycles", "floor", "ratio", "vendor", "gain")

    def line(name: str, cycles: float, floor: float, theirs: int | None) -> str:
        gain = "" if theirs is None else f"{theirs / cycles:.2f}"
        known = "" if theirs is None else f"{theirs:,}"
        return row.format(
            name, f"{cycles:,.0f}", f"{floor:,.0f}", f"{cycles / floor:.3f}", known, gain
        )

    for phase in found:
        first = phase.first
        yield line(f"{phase.name} block", first.cycles, first.floor, vendor.get(phase.name))
        if phase.once is not None:
            yield line("head", phase.once.cycles, phase.once.floor, vendor.get("head"))
        cycles, floor = phase.total(lambda n: n.cycles), phase.total(lambda n: n.floor)
        yield line(f"{phase.name} in all", cycles, floor, vendor.get(f"{phase.name} in all"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    names = ", ".join(CONFIGURATIONS)
    parser.add_argument("--model", default="qwen2.5-1.5b", help=f"{names}, or a folder")
    parser.add_argument("--quantize", default="W4F16", choices=FORMATS)
    parser.add_argument("--head", default="W8", choices=HEADS, help="format of the output matrix")
    parser.add_argument("--seq", type=int, default=512, help="tokens of history and of the prompt")
    parser.add_argument("--tokens", type=int, default=1, help="tokens of one step of decoding")
    parser.add_argument("--history", type=int, default=0, help="tokens of the prompt before those")
    parser.add_argument("--json", type=json_file, help="write the figures to this file")
    arguments = parser.parse_args()
    format = WeightFormat(arguments.quantize, head=arguments.head)
    if arguments.model in CONFIGURATIONS:
        model: LanguageModel = SeededModel(arguments.model, format)
    else:
        model = open_model(Path(arguments.model), format)
    check_length(model, arguments.history + arguments.seq)
    found = list(phases(model, arguments.seq, arguments.tokens, arguments.history))
    label = (
        f"{arguments.model} {arguments.quantize}, head {arguments.head}, {arguments.seq} tokens"
        + (f", {arguments.tokens} a step" if arguments.tokens > 1 else "")
        + (f", prompt behind {arguments.history}" if arguments.history else "")
    )
    key = (arguments.model, arguments.quantize, arguments.seq)
    print("\n".join(table(label, found, key)))
    decode, prefill = (phase.total(lambda n: n.cycles) for phase in found)
    rate = load_chip(CHIP).clock_hertz
    print(
        f"{arguments.tokens * rate / decode:.2f} tokens/s, first token after "
        f"{prefill / rate:.3f} s ({arguments.seq * rate / prefill:.0f} tokens/s)"
    )
    write_json(arguments.json, {"model": label, "phases": [asdict(phase) for phase in found]})


if __name__ == "__main__":
    main()
