"""The compiler's pipeline: which passes run, in which order, in three stages.

Each stage ends in IR worth keeping: `top.mlir`, `tpu.mlir`, `final.mlir`. `lower` runs them all;
tools may also take the tuples apart.
"""

import shlex
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.order import check_order
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.pattern_table import PatternPass
from xdsl_tpu.passes.pipeline import did_you_mean, make_pass

TOP_PIPELINE = (
    "shape-infer",
    "canonicalize",
    "extra-optimize",
)
"""From what an importer wrote to simple top IR with known shapes."""

LOWERING_PIPELINE = (
    "processor-assign",
    "import-calibration-table",
    "processor-top-optimize",
    "convert-top-to-tpu",
    "canonicalize",
    "weight-fold",
)
"""From top IR to tpu IR in one number format for one chip."""

FINAL_PIPELINE = (
    "strip-io-quant",
    "fuse-attention",
    "processor-tpu-optimize",
    "split-long-rows",
    "place-values",
    "weight-reorder",
    "subnet-divide",
    "op-reorder",
    "layer-group",
    "absorb-moves",
    "merge-moves",
    "address-assign",
    "verify-addresses",
    "verify-layer-groups",
)
"""From tpu IR to IR with weight layouts and addresses, ready for code generation."""

OF_CHIP = (
    "fuse-attention",
    "split-long-rows",
    "place-values",
    "weight-reorder",
    "layer-group",
    "absorb-moves",
    "merge-moves",
    "address-assign",
    "verify-layer-groups",
)
"""Passes that ask where and how large a chip's memories are: their option `chip`."""

STAGES = {"top": TOP_PIPELINE, "tpu": LOWERING_PIPELINE, "final": FINAL_PIPELINE}
"""Stage -> passes; the IR after a stage is called `<stage>.mlir`."""

REQUIRED = frozenset(
    (
        "shape-infer",
        "processor-assign",
        "import-calibration-table",
        "convert-top-to-tpu",
        "weight-reorder",
        "subnet-divide",
        "address-assign",
    )
)
"""Passes that later ones cannot do without; they cannot be disabled."""

StageObserver = Callable[[str, ModuleOp], None]


@dataclass(frozen=True)
class Quantization:
    """Files that say how a network is quantised; empty where there is none.

    `calibration_table` has the range of every tensor, which INT8 needs; `quantize_table` names
    ops to lower to another number format than the rest.
    """

    calibration_table: str = ""
    quantize_table: str = ""


FLOAT = Quantization()
"""No tables: every op in the one number format."""


@dataclass(frozen=True)
class PassTime:
    """How long one pass took, verification of the IR after it included."""

    stage: str
    pass_name: str
    seconds: float


def lower(
    module: ModuleOp,
    mode: str,
    chip: str,
    disable: Collection[str] = (),
    on_stage: StageObserver | None = None,
    quantization: Quantization = FLOAT,
) -> list[PassTime]:
    """Turn imported top IR into final IR, in place; gives the time of every pass.

    `mode` is F32, F16, BF16 or INT8. `on_stage` sees the module after each stage. Passes named in
    `disable` are left out, and so are patterns named there, by the passes that have them.

    Raises:
        TpuError: an unknown or indispensable pass in `disable`, or whatever a pass refuses.
    """
    check_disabled(disable)
    times: list[PassTime] = []
    for stage in STAGES:
        times += run_stage(module, stage, mode, chip, disable, quantization=quantization)
        if on_stage is not None:
            on_stage(stage, module)
    return times


def run_stage(
    module: ModuleOp,
    stage: str,
    mode: str,
    chip: str,
    disable: Collection[str] = (),
    description: str = "",
    quantization: Quantization = FLOAT,
    transfer_layout: str | None = None,
    boundaries: str = "",
) -> list[PassTime]:
    """Run one stage's passes on `module`, verifying it after each.

    `chip` names the instruction set; `description` is the chip's `.toml` file if it has its own.
    `transfer_layout` are options of that pass, which then runs as soon as shapes are known.
    `boundaries` is a file for the reasons of the layer groups' boundaries.
    """
    options = {"processor-assign": f"mode={mode} chip={chip}"}
    if quantization.calibration_table:
        file = shlex.quote(quantization.calibration_table)
        options["import-calibration-table"] = f"file={file}"
        options["convert-top-to-tpu"] = f"bias_corrections={file}"
    if quantization.quantize_table:
        modes = f"qtable={shlex.quote(quantization.quantize_table)}"
        options["convert-top-to-tpu"] = f"{modes} {options.get('convert-top-to-tpu', '')}"
    if description:
        for name in OF_CHIP:
            options[name] = f"chip={shlex.quote(description)}"
    if boundaries:
        explain = f" shortfall=false explain_file={shlex.quote(boundaries)}"
        options["layer-group"] = options.get("layer-group", "") + explain
    passes: list[str] = list(STAGES[stage])
    if transfer_layout is not None and "shape-infer" in passes:
        # In integer programs most values are float until ranges are known.
        known = f"chip={shlex.quote(description or chip)} mode={'F16' if mode == 'INT8' else mode}"
        options["transfer-layout"] = f"{known} {transfer_layout}"
        passes.insert(passes.index("shape-infer") + 1, "transfer-layout")
    return list(_run(module, stage, passes, options, disable))


def _run(
    module: ModuleOp,
    stage: str,
    passes: Sequence[str],
    options: dict[str, str],
    disable: Collection[str],
) -> Iterator[PassTime]:
    ctx = make_context()
    for name in passes:
        if name in disable:
            continue
        off = sorted(patterns_of(name).intersection(disable)) if disable else []
        own = options.get(name, "") + (f" disable={','.join(off)}" if off else "")
        start = time.perf_counter()
        make_pass(name, own).apply(ctx, module)
        module.verify()
        check_order(module, f"after {name}")
        yield PassTime(stage, name, time.perf_counter() - start)


def patterns_of(pass_name: str) -> frozenset[str]:
    """The rewrite patterns of a pass, which can be switched off one by one."""
    pass_class = PASSES[pass_name]()
    return pass_class.pattern_names() if issubclass(pass_class, PatternPass) else frozenset()


def check_disabled(disable: Collection[str]) -> None:
    """Raise TpuError for a pass or pattern that is unknown or a pass that cannot be left out."""
    known = list(dict.fromkeys(name for passes in STAGES.values() for name in passes))
    for name in disable:
        if name in REQUIRED:
            raise TpuError(f"cannot disable pass '{name}': later passes need what it does")
        if name in known:
            continue
        patterns = sorted({pattern for one in known for pattern in patterns_of(one)})
        if name not in patterns:
            optional = ", ".join(other for other in known if other not in REQUIRED)
            raise TpuError(
                f"cannot disable pass '{name}': unknown{did_you_mean(name, [*known, *patterns])}; "
                f"these can be left out: {optional}, and every rewrite pattern, by its name"
            )
