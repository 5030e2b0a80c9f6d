"""From tensor shapes to n, c, d, h, w by group type (layer group reference, section 3)."""

import math
from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.dialects.names import name_of


def ncdhw(shape: Sequence[int], kind: GroupType, lanes: int) -> Ncdhw:
    """The row-major view of a tensor that its slices refer to."""
    return _RULES[kind](tuple(shape), lanes)


def _normal(s: tuple[int, ...], lanes: int) -> Ncdhw:
    n, c, h = (*s, 1, 1, 1)[:3]
    return Ncdhw(n, c, 1, h, math.prod(s[3:]))


def _three_d(s: tuple[int, ...], lanes: int) -> Ncdhw:
    if len(s) <= 4:
        return _normal(s, lanes)
    return Ncdhw(s[0], s[1], s[2], s[3], math.prod(s[4:]))


def _small_c(s: tuple[int, ...], lanes: int) -> Ncdhw:
    """The last axis to h, the one before it to the lanes, filled up with outer ones if even."""
    if len(s) <= 3:
        return Ncdhw(1, math.prod(s[:-1]), 1, math.prod(s[-1:]), 1)
    outer, c, h = math.prod(s[:-2]), s[-2], s[-1]
    if outer * c % lanes == 0:
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


def of_value(value: SSAValue, kind: GroupType, lanes: int) -> Ncdhw:
    """As `ncdhw`, of an IR value with a static shape."""
    shape = known_shape(value.type)
    if shape is None:
        raise TpuError(f"'{name_of(value)}' of type {value.type} has no static shape")
    return ncdhw(shape, kind, lanes)
