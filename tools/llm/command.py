"""What `tpu-compile` has for language models."""

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import FORMATS as PACKED
from xdsl_tpu.tools.llm.arguments import LENGTH
from xdsl_tpu.tools.progress import working

_OWN = {"seq": "--seq", "lm_head": "--lm-head", "chunk": "--chunk", "steps": "--steps"}
_OTHERS = ("input_shapes", "weights", "transfer_layout", "disable_pass", "check",
           "calibration_table", "calibrate_with", "min_cosine", "quantize_table")  # fmt: skip


def refuse_language_model_options(args: argparse.Namespace) -> None:
    """Raise TpuError for options that only language models have."""
    given = [option for name, option in _OWN.items() if getattr(args, name)]
    if given:
        raise TpuError(f"{given[0]} is for language models; give --llm FOLDER instead of a file")


def compile_language_model(args: argparse.Namespace) -> None:
    """Compile `args.llm`. Raises TpuError for options of other models, and as `compile_llm`."""
    refused = [name for name in _OTHERS if getattr(args, name)]
    if refused:
        option = refused[0].replace("_", "-")
        raise TpuError(f"--{option} is not for language models; leave it out")
    if args.quantize in ("F32", "INT8"):
        raise TpuError(
            f"--quantize {args.quantize}: language models compute in F16 or BF16; choose one of "
            f"these, or {', '.join(PACKED)}"
        )
    output: Path = args.output or Path(args.llm.resolve().name)
    if output.exists() and not output.is_dir():
        raise TpuError(f"{output}: exists and is no folder; give another with -o")
    tool = _tool()
    chosen = None
    if args.quantize or args.group or args.symmetric or args.lm_head:
        chosen = tool.WeightFormat(
            args.quantize or "F16", args.group or 64, args.symmetric, args.lm_head or "F16"
        )
    length = LENGTH if args.seq is None else args.seq
    stages = tool.Stages(length, args.chunk or 0, tuple(args.steps or ()))
    console = Console(stderr=True, quiet=args.quiet)
    with working(console, f"{args.llm.name}: reading") as update:

        def on_stage(stage: str) -> None:
            update(f"{args.llm.name}: {stage}")

        result = tool.compile_llm(args.llm, output, chosen, stages, args.chip, on_stage, args.cores)
    if not args.quiet:
        print(f"{tool.summary(result)}; written to {output}")


def _tool() -> Any:
    """The compiler of language models. Raises TpuError without the package that reads them."""
    try:
        return import_module("xdsl_tpu.tools.llm.compile_llm")
    except ImportError as error:
        if error.name != "safetensors":
            raise
        raise TpuError(
            "language models need the package safetensors: install xdsl-tpu[llm]"
        ) from error
