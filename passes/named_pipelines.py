"""The stages of the compiler by name, wherever a pass can be named."""

from dataclasses import dataclass, fields

from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.pipeline import OptionTexts, did_you_mean
from xdsl_tpu.passes.pipelines import STEPS, Quantization, Settings, check_disabled, pipeline


@dataclass(frozen=True)
class StagePipeline:
    """A stage as something that can be named where a pass can; its options are these fields.

    `chip` is a name or a `.toml` description, `calibration_table` and `quantize_table` are files,
    `disable` names passes and patterns to leave out.
    """

    stage: str
    mode: str = "F16"
    chip: str = "bm1684x"
    calibration_table: str = ""
    quantize_table: str = ""
    disable: tuple[str, ...] = ()

    def passes(self) -> list[ModulePass]:
        """The passes of the stage; TpuError as `pipeline` and `load_chip`."""
        check_disabled(self.disable)
        return pipeline(
            self.stage,
            Settings(
                self.mode.upper(),
                load_chip(self.chip).instruction_set,
                self.disable,
                "" if self.chip == StagePipeline.chip else self.chip,
                Quantization(self.calibration_table, self.quantize_table),
            ),
        )


PIPELINES = {f"{stage}-pipeline": stage for stage in STEPS}
"""What a stage is called on a command line -> the stage."""


def pipeline_options() -> list[str]:
    """`name=default` for every option of a pipeline."""
    own = fields(StagePipeline)[1:]
    return [f"{one.name}={'' if one.name == 'disable' else one.default}" for one in own]


def named_pipeline(name: str, options: OptionTexts) -> list[ModulePass]:
    """The passes of `top-pipeline`, `tpu-pipeline` or `final-pipeline`.

    Raises TpuError for an option that a pipeline does not have.
    """
    known = [field.name for field in fields(StagePipeline)[1:]]
    values = {key.replace("-", "_"): value for key, value in options.items()}
    for key in values:
        if key not in known:
            raise TpuError(
                f"pipeline '{name}' has no option '{key}' (it has {', '.join(known)})"
                f"{did_you_mean(key, known)}"
            )
    texts = {key: value or "" for key, value in values.items() if key != "disable"}
    disable = tuple(filter(None, (values.get("disable") or "").split(",")))
    return StagePipeline(PIPELINES[name], disable=disable, **texts).passes()
