"""From tensor shapes to n, c, d, h, w, by group type (docs/hardware/groups.md#group-types)."""

import math
from collections.abc import Callable, Sequence
from functools import cache

from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw

Shape = Sequence[int]


def ncdhw(shape: Shape, kind: GroupType, lanes: int) -> Ncdhw:
    """How a tensor lies in local memory in a group of this type.

    | type | rule (s = shape, missing sizes are 1) |
    |---|---|
    | NORMAL, MM | n = s0, c = s1, h = s2, w = s3 * s4 ... |
    | THREE_D | as NORMAL up to rank 4; above, d = s2, h = s3, w = s4 * ... |
    | SMALL_C | outer dimensions go to n and c, the last two to c or h; see `_small_c` |
    | MM_INT4 | n = s0, h = s1 |
    """
    return _ncdhw(tuple(shape), kind, lanes)


@cache
def _ncdhw(shape: tuple[int, ...], kind: GroupType, lanes: int) -> Ncdhw:
    return _RULES[kind](shape, lanes)


def _normal(s: tuple[int, ...], lanes: int) -> Ncdhw:
    n, c, h = (*s, 1, 1, 1)[:3]
    return Ncdhw(n, c, 1, h, math.prod(s[3:]))


def _three_d(s: tuple[int, ...], lanes: int) -> Ncdhw:
    if len(s) <= 4:
        return _normal(s, lanes)
    return Ncdhw(s[0], s[1], s[2], s[3], math.prod(s[4:]))


def _small_c(s: tuple[int, ...], lanes: int) -> Ncdhw:
    """Fills the lanes with outer dimensions where that comes out even."""
    if len(s) < 4:
        return Ncdhw(1, math.prod(s[:-1]), 1, s[-1] if s else 1, 1)
    outer, c, h = math.prod(s[:-2]), s[-2], s[-1]
    if (outer * c) % lanes == 0:
        outer, c = outer * c // lanes, lanes
    return Ncdhw(outer, c, 1, h, 1)


def _mm_int4(s: tuple[int, ...], lanes: int) -> Ncdhw:
    return Ncdhw(s[0], 1, 1, math.prod(s[1:]), 1)


_RULES: dict[GroupType, Callable[[tuple[int, ...], int], Ncdhw]] = {
    GroupType.NORMAL: _normal,
    GroupType.THREE_D: _three_d,
    GroupType.SMALL_C: _small_c,
    GroupType.MM_INT4: _mm_int4,
    GroupType.MM: _normal,
}
