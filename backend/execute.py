"""Running a program on the machine model: inputs in, outputs out."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip, known_chips, load_chip
from xdsl_tpu.backend.chip.identity import check_same_layout, figures_of
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.machine import Machine, Numerics, Outside, describe
from xdsl_tpu.backend.program import IoTensor, Program
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.far_index import far_index
from xdsl_tpu.dialects.input_ranges import TRUTH, InputRange
from xdsl_tpu.dialects.random_masks import random_mask

Array = npt.NDArray[Any]

_USUAL_CHIP = "BM1684X"
"""Whose programs other tools write."""


def check_fits(program: Program, chip: Chip) -> None:
    """Raise TpuError unless the chip has the cores, and coefficients, arena, inputs and outputs
    lie in its DDR.

    A file may claim any size: ask before making inputs of it.
    """
    if len(program.cores) > chip.cores:
        raise TpuError(
            f"the program is for {len(program.cores)} cores, {chip.name} has {chip.cores}"
        )
    for what, address, size in _parts(program):
        if size and not chip.in_ddr(address, size):
            raise TpuError(
                f"the {what} ({size} bytes at {address:#x}) is not within the {chip.ddr_bytes} "
                f"bytes of DDR that {chip.name} has from {chip.ddr_base:#x} on"
            )


def _parts(program: Program) -> list[tuple[str, int, int]]:
    """Name, address and bytes of what lies in DDR."""
    return [
        ("coefficients", program.coefficient_address, program.coefficients.nbytes),
        ("arena", program.arena_address, program.arena_bytes),
        *((f"tensor '{t.name}'", t.address, t.bytes) for t in program.inputs),
        *((f"tensor '{t.name}'", t.address, t.bytes) for t in program.outputs),
    ]


def check_chip(program: Program, chip: Chip) -> None:
    """Raise TpuError unless the program was made for a chip with the figures of this one.

    A program that does not note its chip is for the one that it names, or else for a BM1684X.
    """
    if program.chip_figures:
        check_same_layout(program.chip_figures, chip)
        return
    name = program.chip if program.chip.lower() in known_chips() else _USUAL_CHIP
    assumed = f" (it does not say what it is for: a {name} is assumed)"
    check_same_layout(figures_of(load_chip(name)), chip, assumed)


def run_program(
    program: Program,
    chip: Chip,
    inputs: Mapping[str, Array],
    numerics: Numerics = "fast",
    on_command: Callable[[Command], None] | None = None,
    on_overflow: Callable[[Command], None] | None = None,
) -> dict[str, Array]:
    """Execute a program; `inputs` and the result are keyed by tensor name.

    bf16 tensors are arrays of their 16 bits. Random masks of the program are made here unless
    `inputs` has them. `on_command` is called after each command, `on_overflow` at the end for each
    of `Machine.overflowed`. Raises TpuError for a missing, unknown or ill-shaped input, or one with
    NaN or infinity, and for indices outside the tables they are read by.
    """

    def observe(machine: Machine, command: Command) -> None:
        if on_command is not None:
            on_command(command)

    machine = execute(program, chip, inputs, observe, numerics)
    if machine.outside:
        raise TpuError(_outside(program, machine.outside))
    if on_overflow is not None:
        for command in machine.overflowed:
            on_overflow(command)
    memory = machine.memory
    return {t.name: memory.read(t.address, t.shape, t.dtype.numpy) for t in program.outputs}


def execute(
    program: Program,
    chip: Chip,
    inputs: Mapping[str, Array],
    on_command: Callable[[Machine, Command], None],
    numerics: Numerics = "fast",
) -> Machine:
    """The machine after a program; `on_command` may look at it after each command.

    Raises TpuError as `run_program`.
    """
    machine = loaded(program, chip, inputs, numerics)
    _run(machine, program, lambda command: on_command(machine, command))
    return machine


def _run(
    machine: Machine, program: Program, on_command: Callable[[Command], None] | None = None
) -> None:
    if program.others:
        machine.run_cores([(core.tiu, core.gdma) for core in program.cores], on_command)
    else:
        machine.run(program.tiu, program.gdma, on_command)


def loaded(
    program: Program, chip: Chip, inputs: Mapping[str, Array], numerics: Numerics = "fast"
) -> Machine:
    """The machine before the first command: coefficients and inputs are in its memory.

    Raises TpuError as `run_program`.
    """
    machine = _with_coefficients(program, chip, numerics)
    _write_inputs(program, machine, inputs)
    return machine


def _with_coefficients(program: Program, chip: Chip, numerics: Numerics) -> Machine:
    if program.chip_figures:
        check_same_layout(program.chip_figures, chip)
    check_fits(program, chip)
    machine = Machine(chip, numerics)
    for _, address, size in _parts(program):
        if size:
            machine.memory.reserve(address, size)
    machine.memory.write(program.coefficient_address, program.coefficients)
    return machine


def _write_inputs(program: Program, machine: Machine, inputs: Mapping[str, Array]) -> None:
    inputs = {**random_masks(program), **inputs}
    for tensor in program.inputs:
        machine.memory.write(tensor.address, checked_input(tensor, inputs))
    unknown = sorted(set(inputs) - {t.name for t in program.inputs})
    if unknown:
        raise TpuError(f"no such input: {', '.join(unknown)}; {_signature(program)}")


class LoadedProgram:
    """A program in a machine of its own, to be run again and again.

    Raises TpuError as `run_program`.
    """

    def __init__(self, program: Program, chip: Chip, numerics: Numerics = "fast") -> None:
        self.program = program
        self._machine = _with_coefficients(program, chip, numerics)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs for some inputs; memory is otherwise as the run before has left it."""
        program, machine = self.program, self._machine
        _write_inputs(program, machine, inputs)
        _run(machine, program)
        if machine.outside:
            raise TpuError(_outside(program, machine.outside))
        memory = machine.memory
        return {t.name: memory.read(t.address, t.shape, t.dtype.numpy) for t in program.outputs}


def _outside(program: Program, found: Sequence[Outside]) -> str:
    """The first index outside its table, where, and how many more there are."""
    first = found[0]
    commands = program.queue(first.command.engine)
    layers = program.layer_indices(first.command.engine)
    at = next((n for n, command in enumerate(commands) if command is first.command), -1)
    place = describe(first.command, at + 1)
    if 0 <= at < len(layers) and layers[at] >= 0:
        layer = program.layers[layers[at]]
        place = f"layer '{layer.name}' ({layer.op}), {place}"
    what = index_outside(first)
    total = sum(one.count for one in found)
    more = f" ({total} such indices)" if total > 1 else ""
    return f"{place}: {what}{more}; check the ids or positions that the network is given"


def index_outside(one: Outside) -> str:
    """The first index of a command that names no row of its table, in words."""
    far = far_index(one.index)
    if far is not None:
        return f"{far.told} of its table, which has {one.rows} elements or rows in all"
    # Kernels have added the rows to what counts from the end.
    index = one.index if one.index >= 0 else one.index - one.rows
    return f"index {index} is outside its table of {one.rows} rows"


def random_masks(program: Program) -> dict[str, Array]:
    """The inputs that the program wants as random masks, from its seeds."""
    return {
        tensor.name: random_mask(tensor.shape, mask.seed, mask.rate)
        for tensor in program.inputs
        if (mask := program.random_masks.get(tensor.name)) is not None
    }


def random_inputs(program: Program, seed: int) -> dict[str, Array]:
    """Standard normal values for every input that is not ids, positions or masks, in order.

    Those are whole numbers from `program.input_ranges`; without one, 32-bit integers are 0 and 1,
    and bytes 0 to 99. Inputs that are random masks have seeds of their own: `run_program` makes
    them.
    """
    generator = np.random.default_rng(seed)
    values: dict[str, Array] = {}
    for tensor in program.inputs:
        if tensor.name in program.random_masks:
            continue
        known = program.input_ranges.get(tensor.name)
        if known is None and tensor.dtype.is_float:
            values[tensor.name] = generator.standard_normal(tensor.shape, np.float32)
            continue
        chosen = known or (TRUTH if tensor.dtype.bytes == 4 else _SMALL)
        values[tensor.name] = generator.integers(chosen.low, chosen.high, tensor.shape)
    return values


_SMALL = InputRange(0, 100)


def checked_input(tensor: IoTensor, inputs: Mapping[str, Array]) -> Array:
    """The input's values in its element type."""
    value = inputs.get(tensor.name)
    if value is None:
        given = ", ".join(inputs) or "nothing"
        raise TpuError(
            f"input '{tensor.name}' is missing: give {list(tensor.shape)} of {tensor.dtype.label} "
            f"(given: {given})"
        )
    if value.dtype.kind not in "biuf":
        raise TpuError(f"input '{tensor.name}' holds {value.dtype}, not {tensor.dtype.label}")
    if not tensor.dtype.is_float:
        _refuse_other_than_integers(tensor, value)
    if value.shape == () and math.prod(tensor.shape) == 1:
        value = value.reshape(tensor.shape)  # a program has no numbers without a dimension
    if value.shape != tensor.shape:
        raise TpuError(
            f"input '{tensor.name}' has shape {list(value.shape)}, "
            f"the program wants {list(tensor.shape)}"
        )
    if tensor.dtype.is_float and not np.isfinite(value).all():
        raise TpuError(f"input '{tensor.name}' contains NaN or infinity")
    if tensor.dtype is DType.BF16 and value.dtype != np.uint16:
        words = _as_floats(tensor, value, np.dtype(np.float32)).view(np.uint32)
        return ((words + 0x7FFF + ((words >> 16) & 1)) >> 16).astype(np.uint16)
    if tensor.dtype.is_float and value.dtype.kind == "f":
        return _as_floats(tensor, value, np.dtype(tensor.dtype.numpy))
    return np.ascontiguousarray(value, dtype=tensor.dtype.numpy)


def _as_floats(tensor: IoTensor, value: Array, dtype: np.dtype[Any]) -> Array:
    """Finite numbers in a type of floats; TpuError where one is beyond it."""
    with np.errstate(over="ignore"):
        held = np.ascontiguousarray(value, dtype=dtype)
    beyond = ~np.isfinite(held)
    if beyond.any():
        raise TpuError(
            f"input '{tensor.name}' has {value[beyond][0]}, which {tensor.dtype.label} does "
            "not hold"
        )
    return held


def _refuse_other_than_integers(tensor: IoTensor, value: Array) -> None:
    """TpuError for numbers that an integer type does not hold; whole floats are integers."""
    limits = np.iinfo(str(tensor.dtype.numpy))
    # f16 has no number as large as the limits of 32 bits
    wide = value.astype(np.float64) if value.dtype.kind == "f" else value
    held = (wide >= limits.min) & (wide <= limits.max)
    if value.dtype.kind == "f":
        held &= np.trunc(wide) == wide
    if not held.all():
        raise TpuError(
            f"input '{tensor.name}' has {value[~held][0]}, which {tensor.dtype.label} does not hold"
        )


def _signature(program: Program) -> str:
    described = (f"{t.name} {list(t.shape)} {t.dtype.label}" for t in program.inputs)
    return f"the program takes {', '.join(described)}"
