"""The machine: executes commands on values; it knows no cycles."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.replay import replay, replay_cores
from xdsl_tpu.backend.machine.memory import Memory
from xdsl_tpu.backend.machine.state import Outside, State
from xdsl_tpu.backend.machine.table import state_of
from xdsl_tpu.dialects.errors import TpuError

Numerics: TypeAlias = Literal["fast", "exact"]
"""Summation of products: "fast" in f32 by BLAS, "exact" in the order of the chip's units."""

_STATIC_IMAGES = Path(__file__).with_name("static_images")


@cache
def static_image(instruction_set: str) -> bytes:
    """What the firmware writes to static memory at boot; the rest of that memory is zero.

    docs/hardware/machine.md#static-memory: exp, 1/k!, log, erf, trigonometric tables, 0..63.
    """
    return (_STATIC_IMAGES / f"{instruction_set}.bin").read_bytes()


class Machine:
    """A core with its memories, all zero at the start except for the static image, and others
    beside it that have their own but for DDR, as programs for several want them.

    >>> machine = Machine(load_chip("bm1684x"))
    >>> machine.memory.write(chip.ddr_base, weights)
    >>> machine.run(program.tiu, program.gdma)
    """

    def __init__(self, chip: Chip, numerics: Numerics = "fast") -> None:
        self.memory = Memory(chip, static_image(chip.instruction_set))
        self._chip, self._exact = chip, numerics == "exact"
        self._state = state_of(chip, self.memory, self._exact)
        self._others: list[State] = []
        self._now: Command | None = None
        self._overflowed: dict[int, Command] = {}

    @property
    def outside(self) -> Sequence[Outside]:
        """The gathers and scatters so far that met indices outside their tables.

        The chip goes on: such rows are filled with a constant, or not written.
        """
        return [one for state in (self._state, *self._others) for one in state.outside]

    @property
    def overflowed(self) -> Sequence[Command]:
        """The commands so far that rounded a finite number to infinity, f16 or f32.

        bf16 has the reach of f32: nobody says when its rounding goes beyond that.
        """
        return list(self._overflowed.values())

    def execute(self, command: Command) -> None:
        """Carry out one command.

        Raises TpuError, naming the command, when it is not simulated or its operands do not fit.
        """
        with self._watching():
            self._step(command)

    def run(
        self,
        tiu: Sequence[Command],
        gdma: Sequence[Command],
        on_command: Callable[[Command], None] | None = None,
    ) -> None:
        """Execute both queues in the order of `replay`; `on_command` is called after each command.

        Any order that honours the dependencies gives the same memory. Raises TpuError when
        neither queue can go on.
        """
        queues = {Engine.TIU: tiu, Engine.GDMA: gdma}
        done = dict.fromkeys(Engine, 0)
        with self._watching():
            for engine, position in replay(tiu, gdma):
                command = queues[engine][position]
                done[engine] = position + 1
                self._step(command, position + 1)
                if on_command is not None:
                    on_command(command)
        if done[Engine.TIU] < len(tiu) or done[Engine.GDMA] < len(gdma):
            raise TpuError(_deadlock(tiu, gdma, done[Engine.TIU], done[Engine.GDMA]))

    def run_cores(
        self,
        cores: Sequence[tuple[Sequence[Command], Sequence[Command]]],
        on_command: Callable[[Command], None] | None = None,
    ) -> None:
        """Execute the queues of several cores in the order of `replay_cores`; otherwise as `run`.

        Raises TpuError when all cores wait.
        """
        while len(self._others) < len(cores) - 1:
            memory = Memory(self._chip, static_image(self._chip.instruction_set), self.memory)
            self._others.append(state_of(self._chip, memory, self._exact))
        states = (self._state, *self._others)
        left = sum(len(queue) for queues in cores for queue in queues)
        with self._watching():
            for core, engine, position in replay_cores(cores):
                command = cores[core][engine is Engine.GDMA][position]
                self._step(command, position + 1, states[core])
                left -= 1
                if on_command is not None:
                    on_command(command)
        if left:
            raise TpuError(f"deadlock: {left} commands of {len(cores)} cores wait for each other")

    def _watching(self) -> np.errstate:
        """Floating point as the chip has it, silent; the host's own flag says what overflows."""
        return np.errstate(all="ignore", over="call", call=self._note_overflow)

    def _note_overflow(self, error: str, flags: int) -> None:
        if self._now is not None:
            self._overflowed.setdefault(id(self._now), self._now)

    def _step(self, command: Command, number: int = 0, state: State | None = None) -> None:
        self._now = command
        try:
            if unknown := command.not_understood():
                raise TpuError(unknown)
            (state or self._state).execute(command)
        except TpuError as error:
            raise TpuError(f"{describe(command, number)}: {error}") from error
        except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError) as error:
            # Fields that no executor expects together, in a damaged file or a mistaken kernel.
            text = f"{describe(command, number)}: its fields do not go together ({error})"
            raise TpuError(text) from error


def describe(command: Command, number: int = 0) -> str:
    """A command in words for messages: `TIU command 12, sAR (mul)`.

    `number` is its place in its queue, from 1; 0 where it is alone, and only it can know.
    """
    number = number or command["cmd_id"]
    place = f"command {number}" if number else "command"
    return f"{command.engine.value} {place}, {command.form.name} ({command.function_name})"


def _deadlock(tiu: Sequence[Command], gdma: Sequence[Command], done: int, copied: int) -> str:
    waiting: list[str] = []
    if done < len(tiu):
        command = tiu[done]
        waiting.append(
            f"{describe(command, done + 1)} waits for GDMA command {command['cmd_id_dep']}"
        )
    if copied < len(gdma):
        command = gdma[copied]
        waiting.append(
            f"{describe(command, copied + 1)} waits for TIU command {command['cmd_id_dep']}"
        )
    return f"deadlock after {done} TIU and {copied} GDMA commands: " + "; ".join(waiting)
