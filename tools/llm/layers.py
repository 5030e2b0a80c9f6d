"""Compiling nets, those that are alike but for their numbers only once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.codegen import coefficient_image, generate
from xdsl_tpu.backend.program import Layer, Program
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import module_text
from xdsl_tpu.dialects.weights import Weights, attach, weights_of
from xdsl_tpu.passes.pipelines import Settings, pipeline, run_passes

Array = npt.NDArray[Any]

LAST_ON_WEIGHTS = "weight-reorder"
"""Passes behind this one decide where weights lie, not what they are."""


@dataclass(frozen=True)
class _Template:
    """A compiled net: its number, its IR when weights were as they stay, its result."""

    index: int
    settled: str
    module: ModuleOp
    program: Program
    places: Mapping[str, str]
    """Type and address of each weight, by its name without the net's number."""


@dataclass(frozen=True)
class Compiled:
    """The program of a net, and the net whose commands it has."""

    program: Program
    alike: str


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
        self._templates: dict[str, _Template] = {}
        self.modules: dict[str, str] = {}
        """Text of the final IR of each net that was compiled, by name."""

    def compile(self, module: ModuleOp, index: int = 0) -> Compiled:
        """The program of a `top` module, that of layer `index`; the module is used up.

        Raises TpuError for whatever a pass or a kernel refuses.
        """
        key = without_number(module_text(module), index)
        for _ in run_passes(module, self._first):
            pass
        settled = without_number(module_text(module), index)
        template = self._templates.get(key)
        if template is not None and template.settled == settled:
            return self._alike(module, index, template)
        return self._anew(module, index, key, settled)

    def same_image(self, first: Program, second: str, index: int) -> Compiled | None:
        """The program of the net that is like template `second`, but has layer `index`, when its
        image must be that of `first`; None when the two need not have the same."""
        one, other = (
            next((t for t in self._templates.values() if t.program.name == name), None)
            for name in (second.replace("block_cache_", "block_"), second)
        )
        if one is None or other is None or one.places != other.places:
            return None
        if not np.array_equal(one.program.coefficients, other.program.coefficients):
            return None
        return self._renamed(other, first.coefficients, index)

    def _anew(self, module: ModuleOp, index: int, key: str, settled: str) -> Compiled:
        before = dict(weights_of(module).items())
        for _ in run_passes(module, self._last):
            pass
        weights = weights_of(module)
        program = generate(module, weights, self._chip)
        self.modules[program.name] = module_text(module)
        used = [op for op in module.walk() if isinstance(op, top.WeightOp)]
        names = [name_of(op) or "" for op in used]
        if all(name in before and weights[name] is before[name] for name in names):
            places = {
                without_number(name, index): str(op.output.type)
                for name, op in zip(names, used, strict=True)
            }
            attach(module, Weights())  # only its places are needed from now on
            self._templates[key] = _Template(index, settled, module, program, places)
        return Compiled(program, program.name)

    def _alike(self, module: ModuleOp, index: int, template: _Template) -> Compiled:
        own = f"layers.{index}."
        theirs = f"layers.{template.index}."
        weights = {name.replace(own, theirs): w for name, w in weights_of(module).items()}
        image = coefficient_image(template.module, weights, self._chip)
        return self._renamed(template, image, index)

    def _renamed(self, template: _Template, image: npt.NDArray[np.uint8], index: int) -> Compiled:
        program = template.program
        theirs, own = f"layers.{template.index}.", f"layers.{index}."
        layers = [Layer(one.name.replace(theirs, own), one.op) for one in program.layers]
        kind = program.name.removesuffix(f"_{template.index}")
        name = f"{kind}_{index}"
        return Compiled(
            replace(program, name=name, coefficients=image, layers=layers), program.name
        )


def without_number(text: str, index: int) -> str:
    """A text of layer `index` without that number."""
    for kind in ("layers.", "block_", "block_cache_"):
        for end in (".", "_", " ", '"'):
            text = text.replace(f"{kind}{index}{end}", f"{kind}#{end}")
    return text
