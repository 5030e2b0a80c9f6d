"""GELU, SiLU and their like between 8-bit integers: a ramp less a short polynomial.

They are max(x, 0) - t q(t) with t = |x| and q a falling tail, so that what is taken off the ramp is
a bump that soon vanishes. In steps of 8 bits a polynomial of three to seven terms gives it, up to a
limit that the rest is cut to; F16 itself takes more of them, and casts with factors on both sides.
Whether a polynomial is close enough is seen on all 256 integers, computed as the chip does.
"""

from collections.abc import Iterator
from functools import cache
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
"""Steps of the result that a polynomial may be off."""

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
def _fit(mode: str, limit: float, count: int, ends: bool) -> tuple[float, ...]:
    """max(x, 0) - f(x) by so many terms, with the least of the largest errors up to the limit.

    `ends`: what lies beyond the limit, down to 0, is computed as the limit is. Least squares with
    weights that grow with the errors (Lawson).
    """
    places = np.linspace(0, limit, GRID)
    bump = places - ACTIVE_MODES[mode](places)
    if ends:
        places, bump = np.append(places, limit), np.append(bump, 0.0)
    powers = places[:, None] ** np.arange(count)
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
