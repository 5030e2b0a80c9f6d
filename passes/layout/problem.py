"""Layout assignment as plain values: variables that are 0 or 1, and what labels cost.

The problem is (in the words of the interface) to choose a layout x in {0, 1} for every variable
that minimises the sum over all variables of u(x) plus the sum over all tensors of

    w01 * [x_producer = 0] * max over readers of x_reader
    w10 * [x_producer = 1] * max over readers of (1 - x_reader)

as one copy in the other layout serves all readers that want it. Readers that can absorb the
difference are served by the copy, or each for itself at its own price, whichever is less.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl_tpu.dialects.errors import TpuError


class LayoutError(TpuError):
    """There is no layout assignment that all ops allow."""


class Cost(NamedTuple):
    """What is minimised: `first`, among equals `second`, among equals the number of changes.

    Whole numbers without limit, so that no sum of them is ever rounded.
    """

    first: int = 0
    second: int = 0
    changes: int = 0

    def plus(self, other: "Cost") -> "Cost":
        """The sum, part by part."""
        return Cost(
            self.first + other.first,
            self.second + other.second,
            self.changes + other.changes,
        )


FREE = Cost()


@dataclass(frozen=True)
class Reader:
    """A use of a tensor in the layout of `variable`, or at a cost of `absorb` in the other."""

    variable: int
    absorb: Cost | None = None


@dataclass(frozen=True)
class Tensor:
    """A value made in the layout of variable `producer`, and its uses.

    `costs` are those of a copy in the other layout: of a channel-first value, of a channel-last
    one; None when there can be no copy.
    """

    producer: int
    readers: tuple[Reader, ...]
    costs: tuple[Cost, Cost] | None


@dataclass
class Problem:
    """Variables by number, with `fixed` layouts where there is no choice, and the tensors."""

    fixed: list[int | None] = field(default_factory=list[int | None])
    preferences: list[tuple[Cost, Cost]] = field(default_factory=list[tuple[Cost, Cost]])
    tensors: list[Tensor] = field(default_factory=list[Tensor])
    excluded: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Pairs of variables of which the one cannot be 0 when the other is 1."""

    def variable(
        self, fixed: int | None = None, preference: tuple[Cost, Cost] = (FREE, FREE)
    ) -> int:
        """Add a variable and give its number."""
        self.fixed.append(fixed)
        self.preferences.append(preference)
        return len(self.fixed) - 1

    def tie(self, one: int, other: int) -> None:
        """Make two variables have the same layout."""
        self.excluded += [(one, other), (other, one)]


def copy_cost(tensor: Tensor, labels: Sequence[int]) -> Cost | None:
    """What serving all readers of a tensor costs; None when it is impossible."""
    own = labels[tensor.producer]
    others = [reader for reader in tensor.readers if labels[reader.variable] != own]
    if not others:
        return FREE
    absorbed: Cost | None = FREE
    for reader in others:
        if absorbed is not None:
            absorbed = None if reader.absorb is None else absorbed.plus(reader.absorb)
    copied = None if tensor.costs is None else tensor.costs[own]
    return min((cost for cost in (copied, absorbed) if cost is not None), default=None)


def needs_copy(tensor: Tensor, labels: Sequence[int]) -> bool:
    """Whether a copy in the other layout is part of the cheapest way to serve all readers.

    Equal costs are decided against the copy.
    """
    own = labels[tensor.producer]
    others = [reader for reader in tensor.readers if labels[reader.variable] != own]
    if any(reader.absorb is None for reader in others):
        return True
    absorbed = FREE
    for reader in others:
        assert reader.absorb is not None
        absorbed = absorbed.plus(reader.absorb)
    return bool(others) and tensor.costs is not None and tensor.costs[own] < absorbed


def total_cost(problem: Problem, labels: Sequence[int]) -> Cost | None:
    """The objective of these labels; None when they are not allowed."""
    fits = all(fixed in (None, label) for fixed, label in zip(problem.fixed, labels, strict=True))
    if not fits or any(labels[a] == 0 and labels[b] == 1 for a, b in problem.excluded):
        return None
    total = FREE
    for preference, label in zip(problem.preferences, labels, strict=True):
        total = total.plus(preference[label])
    for tensor in problem.tensors:
        cost = copy_cost(tensor, labels)
        if cost is None:
            return None
        total = total.plus(cost)
    return total
