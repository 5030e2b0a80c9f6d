"""The passes that a command line of `tpu-opt` asks for, in every spelling there is."""

from collections.abc import Mapping, Sequence

from xdsl.passes import ModulePass

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes import PassLoader
from xdsl_tpu.passes.named_pipelines import PIPELINES, named_pipeline
from xdsl_tpu.passes.pipeline import (
    did_you_mean,
    option_words,
    parse_pipeline,
    set_up_pass,
    split_pipeline,
)

XDSL_FLAG, MLIR_FLAG = "-p", "--pass-pipeline"
"""A pipeline in xDSL's syntax, and in mlir-opt's."""


def requested_passes(
    name: str, text: str, passes: Mapping[str, PassLoader]
) -> Sequence[ModulePass]:
    """What one flag stands for: a pass or pipeline with options, or a text that lists them.

    Raises TpuError for what is unknown or has a wrong option.
    """
    if name == XDSL_FLAG and not any(pipeline in text for pipeline in PIPELINES):
        return parse_pipeline(text, passes)
    if name in (XDSL_FLAG, MLIR_FLAG):
        steps = split_pipeline(text)
        return [made for one, options in steps for made in _passes_of(one, options, passes)]
    return _passes_of(name, text, passes)


def check_pass_name(name: str, passes: Mapping[str, PassLoader]) -> None:
    """Raise TpuError for a name that no pass has."""
    if name not in passes:
        raise TpuError(f"unknown pass '{name}'{did_you_mean(name, list(passes))}")


def _passes_of(name: str, options: str, passes: Mapping[str, PassLoader]) -> Sequence[ModulePass]:
    words = option_words(name, options)
    if name in PIPELINES:
        return named_pipeline(name, words)
    if name not in passes:
        raise TpuError(f"unknown pass '{name}'{did_you_mean(name, [*passes, *PIPELINES])}")
    return [set_up_pass(name, words, passes)]
