"""Where the results of layers are while a program runs, to look at them from outside.

Kernels need none of this. `generate` notes the places on request; `watch` reads each value from the
machine's memories when the last command of its layer is done, before anything overwrites it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.kernels.support import DdrValue, dtype_of
from xdsl_tpu.backend.local.context import Form, LocalValue
from xdsl_tpu.backend.local.transfer import slice_parts
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.dialects.names import name_of

if TYPE_CHECKING:
    from xdsl_tpu.backend.machine import Machine, Memory

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class ValuePlace:
    """The result of entry `layer` of `Program.layers`: a slice in local memory, or all of it in
    DDR at `ddr`."""

    layer: int
    value: SSAValue
    local: LocalValue | None = None
    ddr: DdrValue | None = None


def watch(
    program: Program,
    chip: Chip,
    inputs: Mapping[str, Array],
    places: Sequence[ValuePlace],
    on_command: Callable[[Command], None] = lambda command: None,
) -> dict[str, Array]:
    """Run a program; the stored elements of every layer's result by tensor name.

    bf16 tensors are arrays of their 16 bits. Layers without commands and forms in which lanes
    hold copies are left out. Raises TpuError as `run_program` does.
    """
    from xdsl_tpu.backend.execute import execute  # the machine, which no compilation needs

    left = Counter(index for engine in Engine for index in program.layer_indices(engine))
    by_layer: dict[int, list[ValuePlace]] = {}
    for place in places:
        if left[place.layer] and (place.local is None or place.local.form is Form.PLAIN):
            by_layer.setdefault(place.layer, []).append(place)
    seen: dict[str, Array] = {}
    done: Counter[Engine] = Counter()

    def look(machine: Machine, command: Command) -> None:
        on_command(command)
        index = program.layer_indices(command.engine)[done[command.engine]]
        done[command.engine] += 1
        left[index] -= 1
        if not left[index]:
            for place in by_layer.get(index, ()):
                _read(machine.memory, place, seen, chip)

    execute(program, chip, inputs, look)
    return seen


def _read(memory: Memory, place: ValuePlace, seen: dict[str, Array], chip: Chip) -> None:
    name = name_of(place.value) or ""
    if place.ddr is not None:
        ddr = place.ddr
        seen[name] = memory.read(ddr.address, ddr.shape, ddr.dtype.numpy)
        return
    assert place.local is not None
    kind = place.value.type
    assert is_ranked_tensor(kind)
    shape, dtype = kind.get_shape(), dtype_of(kind.element_type)
    if name not in seen:
        seen[name] = np.zeros(shape, dtype.numpy)
    flat = seen[name].reshape(-1)
    for part, box in slice_parts(place.local, DdrValue(0, shape, dtype), chip):
        found = memory.local.place(part.address, part.shape, part.strides, flat.dtype)
        steps = [stride * flat.itemsize for stride in box.strides]
        start = box.address // flat.itemsize
        np.lib.stride_tricks.as_strided(flat[start:], box.shape, steps)[...] = found.read()
