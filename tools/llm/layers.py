"""Compiling nets, those that are alike but for their numbers only once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.codegen import coefficient_image, generate
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import module_text
from xdsl_tpu.dialects.weights import Weights, attach, weights_of
from xdsl_tpu.passes.pipelines import Settings, pipeline, run_passes

Array = npt.NDArray[Any]

LAST_ON_WEIGHTS = "weight-reorder"
"""Passes behind this one decide where weights lie, not what they are."""


@dataclass(frozen=True)
class Template:
    """A compiled net: its number, its IR when weights were as they stay, its result."""

    index: int
    settled: str
    module: ModuleOp
    program: Program
    places: Mapping[str, str]
    """Type and address of each weight, by its name without the net's number."""


@dataclass(frozen=True)
class Compiled:
    """The program of a net, the net whose commands it has, and that one as a template for others,
    if passes left its weights as they were."""

    program: Program
    alike: str
    template: Template | None


class NetCompiler:
    """Compiles nets to programs.

    A net that differs from one before it in the number of its layer only, in IR and after all
    passes that may look at weights, gets the commands of that one and an image of its own weights.
    """

    def __init__(self, settings: Settings, chip: Chip) -> None:
        self._chip = chip
        passes = [one for stage in ("top", "tpu", "final") for one in pipeline(stage, settings)]
        names = [one.name for one in passes]
        cut = names.index(LAST_ON_WEIGHTS) + 1
        self._first, self._last = passes[:cut], passes[cut:]
        self._templates: dict[str, Template] = {}
        self.modules: dict[str, str] = {}
        """Text of the final IR of each net that was compiled, by its name and stage."""

    def compile(
        self, module: ModuleOp, index: int = 0, stage: str = "", first: Compiled | None = None
    ) -> Compiled:
        """The program of a `top` module, that of layer `index`; the module is used up.

        `stage` tells nets of the same name apart; an image equal to that of `first` is that one.
        Raises TpuError for whatever a pass or a kernel refuses.
        """
        key = without_number(module_text(module), index)
        for _ in run_passes(module, self._first):
            pass
        settled = without_number(module_text(module), index)
        template = self._templates.get(key)
        if template is not None and template.settled == settled:
            return self._alike(module, index, template)
        return self._anew(module, index, stage, first, key, settled)

    def same_image(self, first: Compiled, second: Template | None, index: int) -> Compiled | None:
        """The program of layer `index` that is like template `second`, when its image must be that
        of `first`, which is like another net of the template's layer; None when it need not be."""
        one = first.template
        if one is None or second is None or one.index != second.index:
            return None
        if one.places != second.places:
            return None
        if one.program.coefficients is not second.program.coefficients:
            return None
        return self._renamed(second, first.program.coefficients, index)

    def _anew(
        self,
        module: ModuleOp,
        index: int,
        stage: str,
        first: Compiled | None,
        key: str,
        settled: str,
    ) -> Compiled:
        before = dict(weights_of(module).items())
        for _ in run_passes(module, self._last):
            pass
        weights = weights_of(module)
        program = generate(module, weights, self._chip)
        shared = None if first is None else first.program.coefficients
        if shared is not None and np.array_equal(program.coefficients, shared):
            program.coefficients = shared
        self.modules[program.name + stage] = module_text(module)
        used = [op for op in module.walk() if isinstance(op, top.WeightOp)]
        names = [name_of(op) or "" for op in used]
        template = None
        if all(name in before and weights[name] is before[name] for name in names):
            places = {
                without_number(name, index): str(op.output.type)
                for name, op in zip(names, used, strict=True)
            }
            attach(module, Weights())  # only its places are needed from now on
            template = Template(index, settled, module, program, places)
            self._templates[key] = template
        return Compiled(program, program.name, template)

    def _alike(self, module: ModuleOp, index: int, template: Template) -> Compiled:
        own = f"layers.{index}."
        theirs = f"layers.{template.index}."
        weights = {name.replace(own, theirs): w for name, w in weights_of(module).items()}
        image = coefficient_image(template.module, weights, self._chip)
        return self._renamed(template, image, index)

    def _renamed(self, template: Template, image: npt.NDArray[np.uint8], index: int) -> Compiled:
        program = template.program
        theirs, own = f"layers.{template.index}.", f"layers.{index}."
        layers = [replace(one, name=one.name.replace(theirs, own)) for one in program.layers]
        kind = program.name.removesuffix(f"_{template.index}")
        name = f"{kind}_{index}"
        return Compiled(
            replace(program, name=name, coefficients=image, layers=layers), program.name, template
        )


def without_number(text: str, index: int) -> str:
    """A text of layer `index` without that number."""
    for kind in ("layers.", "block_", "block_cache_", "block_kv_"):
        for end in (".", "_", " ", '"'):
            text = text.replace(f"{kind}{index}{end}", f"{kind}#{end}")
    return text
