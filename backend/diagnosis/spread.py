"""How infinities and NaNs spread from operands to a result, and where they end.

A NaN spoils whatever is computed with it, also where the result is a number again: the greatest of
some numbers and a NaN, or the index of it, says nothing. An infinity is a value that can be meant:
a mask, a pole that a select replaces. It ends where a select, a minimum or a maximum takes
something else. It spoils a quotient that it makes zero, if it came from numbers too large for
their type.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xdsl_tpu.backend.diagnosis.operand_types import Bits, Mask
from xdsl_tpu.backend.diagnosis.origins import Numbers, Origins, numbers_in
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import AR, CMP, VC, PorD

_AR_SELECTS = (AR.SELECT_GREATER, AR.SELECT_EQUAL, AR.SELECT_LESS)

_TAKES_ONE: set[tuple[str, int]] = {
    *(("sAR", function) for function in (AR.MAX, AR.MIN, *_AR_SELECTS, AR.CLAMP)),
    *(("sVC", f) for f in (VC.MAX, VC.MIN, VC.SELECT_GT, VC.SELECT_EQ, VC.SELECT_LT)),
    *(("sCMP", function) for function in CMP),
    ("sPorD", PorD.MAX_POOL),
}
"""Functions that take one of their operands: maxima, minima, selects, comparisons, clamps."""

_CHOICES: dict[tuple[str, int], tuple[str, ...]] = {
    **{("sCMP", function): ("opd2", "opd3") for function in CMP},
    **{("sAR", function): ("opd2",) for function in _AR_SELECTS},
}
"""Operands of selects that the result may leave aside."""

_EQUAL = {("sCMP", CMP.SELECT_EQ), ("sAR", AR.SELECT_EQUAL)}

_INDEXED = {"DMA_gather", "DMA_scatter", "sSG"}
"""Forms whose result is made of some of the elements of an operand."""


@dataclass(frozen=True)
class Tainted:
    """One operand before the command, as far as it is not clean: where, which, whose."""

    name: str
    infinite: Mask
    nan: Mask
    numbers: Bits

    @property
    def not_finite(self) -> Mask:
        """Infinities and NaNs."""
        return self.infinite | self.nan

    def own(self) -> Numbers:
        """The number of every element that is not clean; what nothing marked is stored."""
        return np.maximum(self.numbers, np.where(self.not_finite, Origins.STORED, 0))


def spoiling(command: Command, operand: Tainted, origins: Origins) -> Numbers:
    """The numbers of the elements of an operand that spoil also a finite result."""
    key = command.form.name, command.function
    if key in _EQUAL and command["opd0_addr"] == command["opd1_addr"]:
        return np.zeros(operand.numbers.shape, np.uint32)  # it asks which are NaN
    numbers = np.where(operand.numbers == Origins.STORED, 0, operand.numbers)
    if operand.name in _CHOICES.get(key, ()) or (
        command.form.name in _INDEXED and operand.name in _TABLES
    ):
        return np.where(operand.not_finite, 0, numbers)
    if key in _TAKES_ONE:
        return np.where(operand.infinite, 0, numbers)
    poles = [number for number in numbers_in(numbers, operand.infinite) if origins.is_pole(number)]
    return np.where(operand.infinite & np.isin(numbers, poles), 0, numbers) if poles else numbers


_TABLES = {"src", "opd0"}


def inherited(
    command: Command, operands: Sequence[Tainted], mask: Mask, origins: Origins
) -> Numbers:
    """For every infinity or NaN of a result the number of the operand's that it comes from."""
    numbers: Numbers = np.zeros(mask.shape, np.uint32)
    if not operands:
        return numbers
    if elementwise(command, [one.numbers for one in operands], mask.shape):
        for operand in operands:
            new = mask & operand.not_finite & (numbers == 0)
            numbers[new] = operand.own()[new]
    else:
        found = {n for one in operands for n in numbers_in(one.own(), one.not_finite)}
        if found:
            numbers[mask] = origins.joined(found)
    return numbers


_ELEMENTWISE = {"sAR", "sCMP", "sSFU", "sRQ_DQ", "sLIN"}


def spoilt(
    command: Command, operands: Sequence[Tainted], shape: tuple[int, ...], origins: Origins
) -> Numbers:
    """For every element of a result the number of what spoils it even if it is finite."""
    numbers: Numbers = np.zeros(shape, np.uint32)
    spoils = [(operand, spoiling(command, operand, origins)) for operand in operands]
    spoils = [(operand, one) for operand, one in spoils if one.any()]
    if not spoils:
        return numbers
    if elementwise(command, [one for _, one in spoils], shape):
        for _, one in spoils:
            numbers = np.where(numbers == 0, one, numbers)
        return numbers
    numbers[...] = origins.joined({n for _, one in spoils for n in numbers_in(one, one != 0)})
    return numbers


def elementwise(command: Command, numbers: Sequence[Numbers], shape: tuple[int, ...]) -> bool:
    """Whether every element of a result comes from the operands' elements at its own index."""
    return command.form.name in _ELEMENTWISE and all(one.shape == shape for one in numbers)
