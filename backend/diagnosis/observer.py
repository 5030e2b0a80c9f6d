"""Watching a run: what each command makes of its operands."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.diagnosis.operand_types import (
    Bits,
    Mask,
    any_not_finite,
    element_of,
    is_nan,
    not_finite,
    place,
    precision_of,
    unsigned,
)
from xdsl_tpu.backend.diagnosis.origins import Event, Numbers, Origins, numbers_in
from xdsl_tpu.backend.diagnosis.result import Fault
from xdsl_tpu.backend.diagnosis.saturation import at_limits, limits_of
from xdsl_tpu.backend.diagnosis.spread import Tainted, inherited, spoilt
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.codes import AR, SFU, VC
from xdsl_tpu.backend.machine import Machine
from xdsl_tpu.backend.machine.elements import Element
from xdsl_tpu.backend.operands import Access
from xdsl_tpu.backend.program import Program

_BIT_OPERATIONS = {
    ("sAR", function)
    for function in (
        *(AR.NOT, AR.AND, AR.OR, AR.XOR),
        *(AR.LOGIC_SHIFT, AR.ARITH_SHIFT, AR.ROTATE_SHIFT),
    )
}
"""What they make of the bits of floats is a step of a kernel, not a number."""


_POLES = {("sAR", AR.DIV), ("sVC", VC.DIV), ("sSFU", SFU.RSQRT)}
"""Quotients and reciprocal roots, which are infinite at zero."""


@dataclass(frozen=True)
class Step:
    """One command of a run, as everything here wants to know it."""

    index: int
    engine: Engine
    position: int
    command: Command
    accesses: tuple[Access, ...]


@dataclass
class Saturated:
    """Integers at the limits of their type, summed over the commands of a layer."""

    step: int
    engine: Engine
    position: int
    dtype: str
    count: int = 0
    elements: int = 0
    commands: int = 0


@dataclass
class Observer:
    """Looks at operands before and at results after every command.

    Operands are looked at from step `watch_from` on, or from the first infinity on: a result can
    only inherit one when there is one.
    """

    program: Program
    chip: Chip
    watch_from: int | None = None
    origins: Origins = field(init=False)
    saturated: dict[object, Saturated] = field(default_factory=dict[object, Saturated])
    _operands: list[Tainted] = field(default_factory=list[Tainted])

    def __post_init__(self) -> None:
        self.origins = Origins(self.chip)
        self.origins.active = self.watch_from == 0

    def before(self, machine: Machine, step: Step) -> None:
        """Note what of the operands is not clean, which the result may overwrite."""
        self._operands = []
        if self.origins.active and not Origins.can_move(step.command):
            self._operands = list(self._tainted(machine, step, step.accesses))

    def _tainted(
        self, machine: Machine, step: Step, accesses: Iterable[Access]
    ) -> Iterator[Tainted]:
        for access in accesses:
            kind = None if access.writes else element_of(step.command, access)
            if kind is None:
                continue
            bits = place(machine.memory, access, unsigned(kind.size)).read()
            mask = not_finite(bits, kind) if kind.is_float else np.zeros(bits.shape, np.bool_)
            if mask.any() or not self.origins.clean(access):
                nan = is_nan(bits, kind) if kind.is_float else mask
                yield Tainted(access.operand, mask & ~nan, nan, self.origins.read(access))

    def after(self, machine: Machine, step: Step) -> None:
        """Look at the results."""
        if self.origins.active and Origins.can_move(step.command):
            moved = self.origins.move(step.command)
        else:
            moved = Origins.can_move(step.command)
        for access in step.accesses:
            if not access.writes:
                continue
            kind = element_of(step.command, access)
            if not moved:
                self._computed(machine, step, access, kind)
            if kind is not None and not kind.is_float and step.engine is Engine.TIU:
                self._saturation(machine, step, access, kind)

    def key_of(self, step: Step) -> object:
        """The layer of a command, or the command where the program does not say."""
        index = self._layer(step)
        return (step.engine, step.position) if index < 0 else self.program.layers[index]

    def _layer(self, step: Step) -> int:
        layers = self.program.layer_indices(step.engine)
        return layers[step.position] if step.position < len(layers) else -1

    def _op(self, step: Step) -> str:
        index = self._layer(step)
        return self.program.layers[index].op if index >= 0 else ""

    def _computed(self, machine: Machine, step: Step, access: Access, kind: Element | None) -> None:
        bad = False
        if kind is not None and kind.is_float:
            placed = place(machine.memory, access, unsigned(kind.size))
            bad = any_not_finite(placed, kind)
            if bad and not self.origins.active:
                self._operands = list(self._tainted(machine, step, _kept(step.accesses)))
        if not bad and not self._operands:
            if self.origins.active:
                self.origins.clear(access)
            return
        numbers = spoilt(step.command, self._operands, access.shape, self.origins)
        if bad and kind is not None:
            bits = place(machine.memory, access, unsigned(kind.size)).read()
            numbers = self._numbers(step, kind, bits, numbers)
        if numbers.any():
            self.origins.write(access, numbers)
        else:
            self.origins.clear(access)

    def _numbers(self, step: Step, kind: Element, bits: Bits, spoilt_by: Numbers) -> Numbers:
        """The origin of every infinity and NaN of a result, and of what is spoilt otherwise."""
        mask, nan = not_finite(bits, kind), is_nan(bits, kind)
        numbers = inherited(step.command, self._operands, mask, self.origins)
        old_nan = np.zeros(mask.shape, np.bool_)
        for operand in self._operands:
            old_nan |= operand.nan if operand.nan.shape == mask.shape else operand.nan.any()
        numbers[self._meant(step, kind, mask, nan) & (numbers == 0)] = Origins.STORED
        from_infinity = nan & (numbers != 0) & ~old_nan
        created = mask & (numbers == 0)
        for fault, where in (
            (Fault.FROM_INFINITY, from_infinity),
            (Fault.INVALID, created & nan),
            (Fault.OVERFLOW, created & ~nan),
        ):
            if where.any():
                parents = numbers_in(numbers, where) | numbers_in(spoilt_by, where)
                numbers[where] = self._event(step, fault, kind, where, parents)
        return np.where(mask, numbers, spoilt_by)

    def _meant(self, step: Step, kind: Element, mask: Mask, nan: Mask) -> Mask:
        """Which of these infinities and NaNs are no fault of the command.

        All where only bits are handled or a constant operand is infinite. A constant NaN is what a
        kernel puts where its function has no value: that fault begins here.
        """
        command = step.command
        if (command.form.name, command.function) in _BIT_OPERATIONS:
            return mask
        constants = [np.zeros(0, unsigned(kind.size))]
        for name in ("opd0", "opd1", "opd2", "opd3"):
            if command[f"{name}_const"] and element_like(command, name, kind) is kind:
                bits = np.full(1, command[f"{name}_addr"] & (2 ** (8 * kind.size) - 1))
                constants.append(bits.astype(unsigned(kind.size)))
        bits = np.concatenate(constants)
        if not not_finite(bits, kind).any():
            return np.zeros(mask.shape, np.bool_)
        return mask & ~nan if is_nan(bits, kind).any() else mask

    def _event(
        self, step: Step, fault: Fault, kind: Element, where: Mask, parents: set[int]
    ) -> int:
        key = self.key_of(step), fault, step.command.form.name, step.command.function
        event = Event(fault, step.index, step.engine, step.position, kind.name)
        event.pole = key[2:] in _POLES
        number = self.origins.number(key, event)
        event = self.origins.events[number]
        event.count += int(np.count_nonzero(where))
        event.parents |= parents - {0, number}
        if event.last_step != step.index:
            event.last_step = step.index
            event.commands += 1
            event.elements += where.size
        return number

    def _saturation(self, machine: Machine, step: Step, access: Access, kind: Element) -> None:
        limits = limits_of(step.command, kind.size, self._op(step))
        if limits is None:
            return
        placed = place(machine.memory, access, limits.dtype)
        key = self.key_of(step), step.command.form.name, step.command.function
        new = Saturated(step.index, step.engine, step.position, limits.name)
        found = self.saturated.setdefault(key, new)
        count = sum(at_limits(view, limits) for view in placed.views)
        if not found.count:
            found.step, found.engine, found.position = step.index, step.engine, step.position
        found.count += count
        found.elements += sum(view.size for view in placed.views)
        found.commands += bool(count)


def _kept(accesses: Sequence[Access]) -> list[Access]:
    """The operands that are still there after the command; each result has a place of its own."""
    results = {(access.local, access.address) for access in accesses if access.writes}
    return [one for one in accesses if (one.local, one.address) not in results]


def element_like(command: Command, name: str, kind: Element) -> Element | None:
    """The type of a constant operand, which has no place in memory."""
    one, size, code = (1, 1, 1, 1), kind.size, precision_of(command, name)
    access = Access(name, True, 0, one, one, size, False, size, code)
    return element_of(command, access)
