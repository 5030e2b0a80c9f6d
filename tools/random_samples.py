"""Sample inputs that nobody has to bring: noise, and ids within their tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects.input_ranges import TRUTH, InputRange
from xdsl_tpu.dialects.interpreters.elements import element_type, is_integer
from xdsl_tpu.dialects.main_function import find_main, input_names
from xdsl_tpu.passes.input_ranges import input_ranges
from xdsl_tpu.passes.tensors import shape_of

Array = npt.NDArray[Any]

RANDOM = "random"
"""What stands for such samples where a file or a folder of samples may be given."""

COUNT = 8


@dataclass(frozen=True)
class RandomSamples:
    """`COUNT` samples of a seed for a network in top IR.

    Floats are standard normal. Integers are drawn from what `passes/input_ranges.py` finds for an
    input: the rows of the table that it reads, and 0 and 1 where nothing else is known.
    """

    module: ModuleOp
    seed: int = 0

    def samples(self, limit: int | None = None) -> Iterator[tuple[str, dict[str, Array]]]:
        """What a sample is called, and its inputs; the first `limit` of all."""
        main, known = find_main(self.module)[1], input_ranges(self.module)
        for index in range(COUNT if limit is None else min(limit, COUNT)):
            generator = np.random.default_rng((self.seed, index))
            inputs = {
                name: _random(argument, known.get(name), generator)
                for name, argument in zip(input_names(main), main.args, strict=True)
            }
            yield f"random sample {index}", inputs


def _random(argument: SSAValue, known: InputRange | None, generator: np.random.Generator) -> Array:
    shape = shape_of(argument)
    if known is None and is_integer(element_type(argument.type)):
        known = TRUTH
    if known is not None:
        return generator.integers(known.low, known.high, shape)
    return generator.standard_normal(shape, np.float32)
