"""GELU, SiLU and their like where 8 bits are enough: a ramp less a short polynomial.

They are max(x, 0) - t q(t) with t = |x| and q a falling tail, so that what is taken off the ramp is
a bump that soon vanishes. In steps of 8 bits a polynomial of three to seven terms gives it, up to a
limit that the rest is cut to; F16 itself takes more of them, and casts with factors on both sides.
Whether a polynomial is close enough is seen on all 256 integers, computed as the chip does; of
floats, whose function is as good as 8 bits would make it, on numbers near 0 and far from it.
"""

from collections.abc import Iterator
from functools import cache
from math import ceil, floor, inf, log2
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.interpreters.families.activation import ACTIVE_MODES
from xdsl_tpu.dialects.interpreters.numerics.soft_ramp import MOST_BYTES, bump, is_level, soft_ramp
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.dialects.tpu.enums import ActiveMode
from xdsl_tpu.passes.calibration.steps import SIGNED_MAX, SIGNED_MIN, UNSIGNED_MAX, Step
from xdsl_tpu.passes.lowering.int8.types import SI8

Array = npt.NDArray[Any]

RAMPS = (ActiveMode.GELU, ActiveMode.QGELU, ActiveMode.SILU, ActiveMode.TGELU)
"""Functions that take as much off the ramp at x as at -x."""

CLOSE = 0.25
"""Steps of the result that a polynomial between integers may be off."""

CLOSE_FLOATS = 0.375
"""The same of one between floats, whose operand nothing has rounded to 8 bits."""

FEWEST, MOST = 3, 7
"""Terms of a polynomial."""

LIMITS = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0)
"""Where a polynomial may end."""

SHARES = (0.8, 0.9, 1.0, 1.1, 1.2)
"""Of the place from which on there is nothing to take off: where one between integers may."""

GRID = 241
"""Points up to the limit that it is fitted on."""

STRICT = 4.0
"""How much closer the end of a polynomial is to 0 where all that lies beyond is computed so."""

ROUNDS = 25
"""Of a fit."""

NEAR, FAR = 16.0, 2.0**15
"""Floats up to NEAR are tried densely, up to FAR at about powers of 2."""

DENSE, FEW = 2049, 12
"""How many of them."""

SPARSE = 32
"""One in so many of these is tried first."""


class Ramp(NamedTuple):
    """Attributes of a `tpu.SoftRamp`."""

    factor: float
    limit: float
    terms: tuple[float, ...]
    scale: float = 1.0
    unit: float = 1.0

    @property
    def steps(self) -> int:
        """Passes over 16 bits, each term counting as one."""
        if self.is_level:
            return len(self.terms) + 4 + (self.unit != 1)
        return len(self.terms) + 7 + (self.scale != 1)

    def of(self, integers: Array) -> Array:
        """What it makes of integers, not yet rounded."""
        if self.is_level:
            return np.maximum(integers, 0) - bump(integers, self.limit, self.terms, self.unit)
        return soft_ramp(integers, self.factor, self.limit, self.terms, self.scale)

    @property
    def is_level(self) -> bool:
        """Whether floats are needed for the polynomial only, between signed integers."""
        return is_level(self.factor, self.limit, self.scale)


def ramp_of(mode: ActiveMode, step: Step, wanted: UniformType) -> Ramp | None:
    """The shortest that is close enough, of these the closest; None when there is none.

    `step` and `wanted` are what integers of the operand and of the result stand for, without zero
    points.
    """
    if mode not in RAMPS or step.zero_point or wanted.zero_point:
        return None
    integers = np.arange(SIGNED_MIN, SIGNED_MAX + 1) if step.signed else np.arange(UNSIGNED_MAX + 1)
    exact = ACTIVE_MODES[mode.value](integers * step.scale) / wanted.scale
    bounds = np.iinfo(np.int8 if wanted.storage == SI8 else np.uint8)
    best: tuple[int, float, Ramp] | None = None
    level = is_level_step(step, wanted)
    for ramp in _level(mode, step) if level else _candidates(mode, step, wanted.scale):
        if best is not None and ramp.steps > best[0]:
            break
        value = ramp.of(integers).astype(np.float64)
        if not np.isfinite(value).all():
            continue
        off = np.clip(value, bounds.min, bounds.max) - np.clip(exact, bounds.min, bounds.max)
        error = float(np.abs(off).max())
        if error <= CLOSE and (best is None or error < best[1]):
            best = ramp.steps, error, ramp
    return None if best is None else best[2]


def is_level_step(step: Step, wanted: UniformType) -> bool:
    """Whether integers of an operand and of a result are signed and stand for the same numbers."""
    return step.signed and wanted.storage == SI8 and step.scale == wanted.scale


def float_ramp_of(mode: ActiveMode, step: Step, wanted: UniformType) -> Ramp | None:
    """The shortest of f16 that is close enough (`CLOSE_FLOATS`) where operands and results are
    those that 8 bits of these types would hold; None when there is none.

    What lies beyond the operand's range may be off as if the range were as large.
    """
    if mode not in RAMPS or step.zero_point or wanted.zero_point:
        return None
    reach = step.scale * (SIGNED_MAX if step.signed else UNSIGNED_MAX)
    return _float_ramp(mode, reach, wanted.scale)


@cache
def _float_ramp(mode: ActiveMode, reach: float, scale: float) -> Ramp | None:
    inside, near = np.linspace(-reach, reach, DENSE), np.linspace(-NEAR, NEAR, DENSE)
    far = np.exp2(np.linspace(0, log2(FAR / NEAR), FEW)) * NEAR
    places: npt.NDArray[np.float16] = np.concatenate([inside, near, -far, far]).astype(np.float16)
    exact = ACTIVE_MODES[mode.value](places.astype(np.float64))
    allowed = CLOSE_FLOATS * scale * np.maximum(np.abs(places.astype(np.float64)) / reach, 1)
    within = min(2.0 ** floor(log2(reach)), NEAR)  # so that fits are seldom new
    for count in range(FEWEST, MOST + 1):
        found: list[tuple[float, Ramp]] = []
        for limit in LIMITS:
            ramp = Ramp(1.0, limit, _fit(mode.value, limit, count, True, within))
            # Most are too far off on a few numbers already.
            for chosen in (slice(None, None, SPARSE), slice(None)):
                off = soft_ramp(places[chosen], *ramp[:4]).astype(np.float64) - exact[chosen]
                error = float((np.abs(off) / allowed[chosen]).max())
                if error > 1:
                    break
            else:
                found.append((error, ramp))
        if found:
            return min(found)[1]
    return None


def _candidates(mode: ActiveMode, step: Step, scale: float) -> Iterator[Ramp]:
    """Shorter ones first. Where f16 has room for it, v counts steps of the result already."""
    largest = step.scale * (-SIGNED_MIN if step.signed else UNSIGNED_MAX)
    for steps in range(FEWEST, MOST + 2):
        for late in (False, True):
            count = steps - late
            if not FEWEST <= count <= MOST:
                continue
            for limit in LIMITS:
                terms = _fit(mode.value, limit, count, limit < largest)
                if late:
                    yield Ramp(float(step.scale), limit, terms, float(1 / scale))
                else:
                    inner = (float(term * scale ** (n - 1)) for n, term in enumerate(terms))
                    yield Ramp(float(step.scale / scale), float(limit / scale), tuple(inner))


def _level(mode: ActiveMode, step: Step) -> Iterator[Ramp]:
    """The same between integers of the same steps, fitted on these, with limits that are such:
    about where what is taken off is less than what a polynomial may be off."""
    places = np.arange(MOST_BYTES + 1)
    bumps = places - ACTIVE_MODES[mode.value](places * step.scale) / step.scale
    large = np.flatnonzero(np.abs(bumps) > CLOSE)
    end = int(large[-1]) + 1 if large.size else 1
    limits = dict.fromkeys(min(ceil(end * share), MOST_BYTES) for share in SHARES)
    for steps in range(FEWEST, MOST + 2):
        for smaller in (False, True):
            count = steps - smaller
            if not FEWEST <= count <= MOST:
                continue
            for limit in limits:
                ends = limit < MOST_BYTES
                where, off = places[: limit + 1] / limit, bumps[: limit + 1]
                if ends:
                    where, off = np.append(where, 1.0), np.append(off, 0.0)
                terms = _least(where, off, count, ends)
                # F16 has no room for high powers of large integers.
                unit = 2.0 ** -round(log2(limit)) if smaller else 1.0
                inner = (float(term) / (limit * unit) ** n for n, term in enumerate(terms))
                yield Ramp(1.0, float(limit), tuple(inner), unit=unit)


@cache
def _fit(mode: str, limit: float, count: int, ends: bool, reach: float = inf) -> tuple[float, ...]:
    """max(x, 0) - f(x) by so many terms, with the least of the largest errors up to the limit.

    `ends`: what lies beyond the limit, down to 0, is computed as the limit is. Beyond `reach`
    errors count less, as they are farther off. Least squares with weights that grow with the
    errors (Lawson).
    """
    places = np.linspace(0, limit, GRID)
    bump = places - ACTIVE_MODES[mode](places)
    if ends:
        places, bump = np.append(places, limit), np.append(bump, 0.0)
    counted = 1 / np.maximum(places / reach, 1)
    return tuple(map(float, _least(places, bump, count, ends, counted)))


def _least(
    places: Array, bump: Array, count: int, ends: bool, counted: Array | float = 1.0
) -> Array:
    """The terms; with `ends` the last place is the limit's. `counted`: by how much errors do."""
    powers = places[:, None] ** np.arange(count)
    powers, bump = powers * np.broadcast_to(counted, places.shape)[:, None], bump * counted
    if ends:
        powers[-1] *= STRICT
    weights = np.full(len(places), 1 / len(places))
    best, least = np.zeros(count), np.inf
    for _ in range(ROUNDS):
        root = np.sqrt(weights)
        terms = np.linalg.lstsq(powers * root[:, None], bump * root, rcond=None)[0]
        errors = np.abs(powers @ terms - bump)
        if errors.max() < least:
            best, least = terms, errors.max()
        weights *= errors + 1e-12
        weights /= weights.sum()
    return best
