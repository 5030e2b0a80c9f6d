"""The compiler's pipeline: which passes run, in which order, in three stages.

Each stage ends in IR worth keeping: `top.mlir`, `tpu.mlir`, `final.mlir`. `lower` runs them all;
`pipeline` gives the passes of one, set up, and `run_passes` runs any list of them.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.order import check_order
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.pattern_table import PatternPass
from xdsl_tpu.passes.pipeline import OptionTexts, did_you_mean, option_words, set_up_pass
from xdsl_tpu.passes.verification import Verifier


@dataclass(frozen=True)
class Quantization:
    """Files that say how a network is quantised; empty where there is none.

    `calibration_table` has the range of every tensor, which INT8 needs; `quantize_table` names
    ops to lower to another number format than the rest. `asymmetric` gives integers zero points.
    Matrices of products have `weight_bits` bits, or are floats where that is 0; `group` weights
    share a scale (0: as `pack-weights` chooses), with zero points in the middle if `symmetric`.
    """

    calibration_table: str = ""
    quantize_table: str = ""
    asymmetric: bool = False
    weight_bits: int = 0
    group: int = 0
    symmetric: bool = False


ENDS = ("cut-bands", "cut-ends")
"""What is done for the first and last ops of a network, which those of its parts are not."""

FLOAT = Quantization()
"""No tables: every op in the one number format."""


@dataclass(frozen=True)
class Settings:
    """What a compilation asks of its passes.

    `mode` is F32, F16, BF16 or INT8. `chip` names the instruction set; `description` is the chip's
    `.toml` file if it has its own. Passes named in `disable` are left out, and so are patterns
    named there, by the passes that have them. `transfer_layout` are options of that pass, which
    then runs as soon as shapes are known. `boundaries` is a file for the reasons of the layer
    groups' boundaries; without `shortfall` nothing is said of them. With `inner_io` the network
    takes and gives tensors of its inner type, but for results if `f32_results`. The program is for
    `cores` of the chip's; where it is `generated` next, that proves tile programs, and no pass.
    """

    mode: str = "F16"
    chip: str = "bm1684x"
    disable: Collection[str] = ()
    description: str = ""
    quantization: Quantization = FLOAT
    transfer_layout: str | None = None
    boundaries: str = ""
    shortfall: bool = True
    inner_io: bool = False
    f32_results: bool = False
    cores: int = 1
    generated: bool = False


Options = Callable[[Settings], OptionTexts | None]
"""What a pass is told; None leaves it out."""


def _nothing(settings: Settings) -> OptionTexts:
    return {}


def _assigned(settings: Settings) -> OptionTexts:
    several: OptionTexts = {"num_core": str(settings.cores)} if settings.cores != 1 else {}
    return {"mode": settings.mode, "chip": settings.chip, **several}


def _of_chip(settings: Settings) -> OptionTexts:
    """Where and how large a chip's memories are, for passes that ask."""
    return {"chip": settings.description} if settings.description else {}


def _grouped(settings: Settings) -> OptionTexts:
    quiet: OptionTexts = {} if settings.shortfall and not settings.boundaries else _SILENT
    file: OptionTexts = {"explain_file": settings.boundaries} if settings.boundaries else {}
    return {**_of_chip(settings), **quiet, **file}


_SILENT: OptionTexts = {"shortfall": "false"}


def _proved(settings: Settings) -> OptionTexts:
    """Groups, of which commands are generated or not."""
    without: OptionTexts = {"tiles": "false"} if settings.generated else {}
    return {**_of_chip(settings), **without}


def _in_groups(settings: Settings) -> OptionTexts | None:
    """Of passes that are worth something in layer groups only."""
    return None if "layer-group" in settings.disable else _of_chip(settings)


def _ordered(settings: Settings) -> OptionTexts:
    moved = settings.cores == 1 and not {"layer-group", "lane-moves"} & set(settings.disable)
    in_lanes: OptionTexts = {"in_lanes": "true"} if moved else {}
    return {**_of_chip(settings), **in_lanes}


def _calibrated(settings: Settings) -> OptionTexts:
    tables = settings.quantization
    if not tables.calibration_table:
        return {}
    return {"file": tables.calibration_table, "asymmetric": str(tables.asymmetric).lower()}


def _packed(settings: Settings) -> OptionTexts | None:
    tables = settings.quantization
    if not tables.weight_bits and not tables.quantize_table:
        return None
    options: OptionTexts = {"bits": str(tables.weight_bits), "group": str(tables.group)}
    options |= {"symmetric": "true"} if tables.symmetric else {}
    return options | ({"qtable": tables.quantize_table} if tables.quantize_table else {})


def _lowered(settings: Settings) -> OptionTexts:
    tables = settings.quantization
    files = {"qtable": tables.quantize_table, "bias_corrections": tables.calibration_table}
    described = {"description": settings.description} if settings.description else {}
    points: OptionTexts = {"asymmetric": "true"} if tables.asymmetric else {}
    return {**described, **points, **{option: file for option, file in files.items() if file}}


def _stripped(settings: Settings) -> OptionTexts:
    if not settings.inner_io:
        return {}
    return {"quant_input": "true", "quant_output": str(not settings.f32_results).lower()}


def _transferred(settings: Settings) -> OptionTexts | None:
    if settings.transfer_layout is None:
        return None
    # In integer programs most values are float until ranges are known.
    mode = "F16" if settings.mode == "INT8" else settings.mode
    own = option_words("transfer-layout", settings.transfer_layout)
    return {"chip": settings.description or settings.chip, "mode": mode, **own}


@dataclass(frozen=True)
class Step:
    """A place in the pipeline: a pass, and what it is told.

    Later passes cannot do without one that is `required`. One that `checks` changes nothing.
    """

    name: str
    options: Options = _nothing
    required: bool = False
    checks: bool = False


_TOP = (
    Step("shape-infer", required=True),
    Step("transfer-layout", _transferred),
    Step("drop-unit-dims"),
    Step("canonicalize"),
    Step("extra-optimize"),
    Step("canonicalize"),
    Step("pack-weights", _packed),
)

_LOWERING = (
    Step("processor-assign", _assigned, required=True),
    Step("import-calibration-table", _calibrated, required=True),
    Step("scale-early"),
    Step("merge-branches"),
    Step("cut-early"),
    Step("fold-rows", _of_chip),
    Step("fold-blocks", _of_chip),
    Step("fold-columns", _of_chip),
    Step("join-heads", _of_chip),
    Step("merge-stretched"),
    Step("orient-products", _of_chip),
    Step("orient-heads", _of_chip),
    Step("merge-rows"),
    Step("processor-top-optimize"),
    Step("cut-early"),
    Step("convert-top-to-tpu", _lowered, required=True),
    Step("canonicalize"),
    Step("weight-fold"),
)

_FINAL = (
    Step("strip-io-quant", _stripped),
    Step("append-in-place"),
    Step("keep-planes", _of_chip),
    Step("fuse-attention", _of_chip),
    Step("processor-tpu-optimize", _of_chip),
    Step("cast-late", _in_groups),
    Step("fuse-mlp", _of_chip),
    Step("fuse-residual", _of_chip),
    Step("split-products", _in_groups),
    Step("split-long-rows", _of_chip),
    Step("order-rows", _ordered),
    Step("place-values", _ordered),
    Step("turn-products", _in_groups),
    Step("weight-reorder", _of_chip, required=True),
    Step("share-weights"),
    Step("subnet-divide", required=True),
    Step("lane-moves", _in_groups),
    Step("cut-bands", _in_groups),
    Step("cut-ends", _in_groups),
    Step("part-results", _in_groups),
    Step("op-reorder", _of_chip),
    Step("rematerialize", _in_groups),
    Step("layer-group", _grouped),
    Step("absorb-moves", _of_chip),
    Step("merge-moves", _of_chip),
    Step("join-in-place"),
    Step("keep-lanes", _of_chip),
    Step("address-assign", _of_chip, required=True),
    Step("verify-addresses", _of_chip, checks=True),
    Step("verify-layer-groups", _proved, checks=True),
)

STEPS = {"top": _TOP, "tpu": _LOWERING, "final": _FINAL}
"""Stage -> its passes: all that is known of the pipeline is said here.

`top` goes from what an importer wrote to simple top IR with known shapes, `tpu` on to tpu IR in one
number format for one chip, `final` to weight layouts and addresses, ready for code generation. The
IR after a stage is called `<stage>.mlir`.
"""


def _names(stage: str) -> tuple[str, ...]:
    """The passes of a stage that run unless somebody says otherwise."""
    return tuple(step.name for step in STEPS[stage] if step.options(Settings()) is not None)


STAGES = {stage: _names(stage) for stage in STEPS}
"""Stage -> the names of its passes."""

REQUIRED = frozenset(step.name for steps in STEPS.values() for step in steps if step.required)
"""Passes that later ones cannot do without; they cannot be disabled."""

StageObserver = Callable[[str, ModuleOp], None]


@dataclass(frozen=True)
class PassTime:
    """How long one pass took, verification of the IR after it included."""

    stage: str
    pass_name: str
    seconds: float


def pipeline(stage: str, settings: Settings) -> list[ModulePass]:
    """The passes of a stage, set up.

    Raises TpuError for options of a pass that it does not have.
    """
    return list(_set_up(STEPS[stage], settings))


def passes_behind(name: str, settings: Settings, stage: str = "final") -> list[ModulePass]:
    """Those behind pass `name` of a stage that decide what commands ops become."""
    stages = list(STEPS)
    steps = [step for one in stages[stages.index(stage) :] for step in STEPS[one]]
    first = 1 + next(place for place, step in enumerate(steps) if step.name == name)
    return list(_set_up([step for step in steps[first:] if not step.checks], settings))


def passes_before(name: str, stage: str, settings: Settings) -> list[ModulePass]:
    """Those of a stage in front of pass `name`."""
    return list(takewhile(lambda one: one.name != name, _set_up(STEPS[stage], settings)))


def _set_up(steps: Sequence[Step], settings: Settings) -> Iterator[ModulePass]:
    for step in steps:
        options = step.options(settings)
        if step.name in settings.disable or options is None:
            continue
        off = patterns_of(step.name).intersection(settings.disable) if settings.disable else ()
        disabled: OptionTexts = {"disable": ",".join(sorted(off))} if off else {}
        yield set_up_pass(step.name, {**options, **disabled})


def lower(
    module: ModuleOp,
    mode: str,
    chip: str,
    disable: Collection[str] = (),
    on_stage: StageObserver | None = None,
    quantization: Quantization = FLOAT,
) -> list[PassTime]:
    """Turn imported top IR into final IR, in place; gives the time of every pass.

    `on_stage` sees the module after each stage; the rest is as in `Settings`.

    Raises:
        TpuError: an unknown or indispensable pass in `disable`, or whatever a pass refuses.
    """
    check_disabled(disable)
    settings = Settings(mode, chip, disable, quantization=quantization)
    times: list[PassTime] = []
    for stage in STAGES:
        times += run_stage(module, stage, settings)
        if on_stage is not None:
            on_stage(stage, module)
    return times


def run_stage(module: ModuleOp, stage: str, settings: Settings) -> list[PassTime]:
    """Run one stage's passes on `module`, verifying it after each."""
    return list(run_passes(module, pipeline(stage, settings), stage))


def run_passes(
    module: ModuleOp, passes: Sequence[ModulePass], stage: str = ""
) -> Iterator[PassTime]:
    """Run passes on `module`, verifying it after each; their times are booked on `stage`."""
    ctx, verifier = make_context(), Verifier()
    for number, module_pass in enumerate(passes, 1):
        start = time.perf_counter()
        module_pass.apply(ctx, module)
        if number < len(passes):
            verifier.verify(module)
        else:
            module.verify()
        check_order(module, f"after {module_pass.name}")
        yield PassTime(stage, module_pass.name, time.perf_counter() - start)


def patterns_of(pass_name: str) -> frozenset[str]:
    """The rewrite patterns of a pass, which can be switched off one by one."""
    pass_class = PASSES[pass_name]()
    return pass_class.pattern_names() if issubclass(pass_class, PatternPass) else frozenset()


def check_disabled(disable: Collection[str]) -> None:
    """Raise TpuError for a pass or pattern that is unknown or a pass that cannot be left out."""
    if isinstance(disable, str):
        raise TpuError(f"disable is a list of names: give ['{disable}']")
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
