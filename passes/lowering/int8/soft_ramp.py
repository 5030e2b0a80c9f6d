"""GELU, SiLU and their like where 8 bits are enough: a ramp less a short polynomial.

They are max(x, 0) - t q(t) with t = |x| and q a falling tail, so that what is taken off the ramp is
a bump that soon vanishes. In steps of 8 bits a polynomial of three to seven terms gives it, up to a
limit that the rest is cut to; F16 itself takes more of them, and casts with factors on both sides.
Whether a polynomial is close enough is seen on all 256 integers, computed as the chip does; of
floats, whose function is as good as 8 bits would make it, on numbers near 0 and far from it.
"""

from collections.abc import Iterator
from functools import cache
from math import floor, inf, log2
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.interpreters.families.activation import ACTIVE_MODES
from xdsl_tpu.dialects.interpreters.numerics.soft_ramp import soft_ramp
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

    @property
    def steps(self) -> int:
        """Instructions, each term counting as one."""
        return len(self.terms) + 7 + (self.scale != 1)


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
    for ramp in _candidates(mode, step, wanted.scale):
        if best is not None and ramp.steps > best[0]:
            break
        value = soft_ramp(integers, *ramp).astype(np.float64)
        if not np.isfinite(value).all():
            continue
        off = np.clip(value, bounds.min, bounds.max) - np.clip(exact, bounds.min, bounds.max)
        error = float(np.abs(off).max())
        if error <= CLOSE and (best is None or error < best[1]):
            best = ramp.steps, error, ramp
    return None if best is None else best[2]


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
                off = soft_ramp(places[chosen], *ramp).astype(np.float64) - exact[chosen]
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
    powers = places[:, None] ** np.arange(count)
    counted = 1 / np.maximum(places / reach, 1)
    powers, bump = powers * counted[:, None], bump * counted
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
    return tuple(map(float, best))
