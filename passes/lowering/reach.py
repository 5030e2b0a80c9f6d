"""Constants that f16 cannot hold: which ops they put into F32, and which may saturate.

    x * 1e6 -> Sigmoid        both in F32
    scores + mask of -1e9 -> Softmax    in F16; the mask is -65504, and as good

A constant beyond the largest f16 makes numbers that are, too; one that f16 has no digits for makes
numbers as small. What computes on such numbers runs in F32, up to where they are bounded again
(a Sigmoid, a norm) or a second factor brings them back. Two things need nothing of it: what is only
added to numbers of usual size, if it is small, as products are to their bias; and what only goes
into a function that has no use for more than 65504 (a Softmax, a comparison), if it is a term or a
choice. Factors are neither, except of masks: what they make is added before it goes there.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.half_range import LARGEST, LEAST, VANISHING, holds, magnitude
from xdsl_tpu.passes.lowering.ends import (
    BOUNDED,
    CARRIERS,
    MOVES,
    Ends,
    all_readers,
    is_float_op,
    is_sum,
)
from xdsl_tpu.passes.tensors import element_of, is_weight, required_name, shape_of
from xdsl_tpu.passes.weight_data import as_numbers

SCALED = (
    *(*CARRIERS, top.AbsOp, top.AvgPoolOp, top.ConvOp, top.CumSumOp, top.DeconvOp, top.DivOp),
    *(top.InterpOp, top.LeakyReluOp, top.MatMulOp, top.MaxPoolOp, top.MulOp, top.PReluOp),
    *(top.ReciprocalOp, top.ReduceOp, top.ScaleOp, top.ScatterElementsOp, top.ScatterNDOp),
    top.SqrtOp,
)
"""Ops whose result is as large as their operands, or a power of that; those of others are usual."""

PRODUCTS = (top.ConvOp, top.DeconvOp, top.MatMulOp, top.MulOp, top.PReluOp, top.ScaleOp)
"""Ops whose second operand is a factor; further ones are terms."""

NORMS = (top.GroupNormOp, top.InstanceNormOp, top.LayerNormOp, top.PixelNormOp, top.RMSNormOp)

DIVIDING = (top.DivOp, top.LogOp, top.PowOp, top.Pow3Op, top.ReciprocalOp, top.RsqrtOp, top.SqrtOp)
"""Ops that a 0 in place of a small number upsets."""


class Constant(NamedTuple):
    """A number of an op: its magnitude, and whether it multiplies."""

    size: float
    is_factor: bool = False


@dataclass
class Reach:
    """What the constants of a function ask for.

    `wide` are the ops to compute in F32. `constants` are the numbers that f16 cannot hold, of ops
    in `wide`; `saturated` those that may be its largest, or 0, instead.
    """

    wide: set[Operation] = field(default_factory=set[Operation])
    constants: dict[str, float] = field(default_factory=dict[str, float])
    saturated: dict[str, float] = field(default_factory=dict[str, float])


def f16_reach(func: FuncOp, weights: Weights | None) -> Reach:
    """The ops of top IR that F16 is too narrow for because of constants, and what saturates."""
    ops = [op for op in func.body.block.ops if is_float_op(op)]
    own = {op: found for op in ops if (found := _unusual(op, weights))}
    if not own:
        return Reach()
    found, sizes = Reach(), _sizes(ops, own, Ends())
    fading = _fading(ops, sizes)
    for op in ops:
        result, given = sizes.get(op.results[0], 1.0), _given(op, sizes)
        if is_sum(op) and result >= LEAST:
            given = [size for size in given if size >= LEAST]
        alters = any(not holds(size) for size in (result, *given)) or _is_guard(op, own)
        small = result < LEAST and all(size <= LARGEST for size in given)
        if alters and not (small and op in fading):
            found.wide.add(op)
        for one in own.get(op, ())[:1]:
            named = found.constants if op in found.wide else found.saturated
            if op in found.wide or one.size > LARGEST:
                named[required_name(op)] = one.size
    return found


def _unusual(op: Operation, weights: Weights | None) -> list[Constant]:
    """The constants of an op that f16 cannot hold, largest first.

    A term that vanishes counts where something divides by the sum. Products with weights that
    are all small keep them: so are those of layers that have not been trained.
    """
    if isinstance(op, BOUNDED) and not isinstance(op, top.CompareConstOp):
        return []
    constants = [*_numbers(op), *_weights(op, weights)]
    guards = isinstance(op, top.AddConstOp)
    found = [
        one
        for one in constants
        if one.size > LARGEST
        or (one.is_factor and 0 < one.size < LEAST)
        or (guards and 0 < one.size < VANISHING and _is_divided_by(op.results[0]))
    ]
    return sorted(found, reverse=True)


def _numbers(op: Operation) -> list[Constant]:
    """The numbers in attributes. Bounds that a 16-bit float never reaches are none."""
    match op:
        case top.MulConstOp():
            return [_finite(op.const_val.value.data, is_factor=True)]
        case top.AddConstOp() | top.SubConstOp() | top.CompareConstOp():
            return [_finite(op.const_val.value.data)]
        case top.MaxConstOp():
            return [_finite(op.const_val.value.data)] if op.const_val.value.data > -LARGEST else []
        case top.MinConstOp():
            return [_finite(op.const_val.value.data)] if op.const_val.value.data < LARGEST else []
        case top.ClipOp():
            low, high = op.min.value.data, op.max.value.data
            kept = [low] if low > -LARGEST else []
            return [_finite(one) for one in (*kept, *([high] if high < LARGEST else []))]
        case top.WhereOp():
            flags = ((op.x_is_const, op.x_const_val), (op.y_is_const, op.y_const_val))
            return [_finite(number.value.data) for flag, number in flags if flag.value.data]
        case top.MaskedFillOp():
            return [_finite(op.const_val.value.data)]
        case top.PadOp():
            return [_finite(op.val.value.data)]
        case top.LeakyReluOp():
            size = _finite(op.alpha.value.data).size
            return [Constant(size, is_factor=True)] if size > LARGEST else []
        case top.AddOp() | top.SubOp() if op.coeff is not None:
            return [_finite(one, is_factor=True) for one in floats(op.coeff)]
        case _:
            return []


def _finite(number: float, *, is_factor: bool = False) -> Constant:
    """A number's magnitude; infinities are infinite in any float, and no problem."""
    return Constant(abs(number) if np.isfinite(number) else 0.0, is_factor)


def _weights(op: Operation, weights: Weights | None) -> list[Constant]:
    found: list[Constant] = []
    for place, value in enumerate(op.operands):
        if weights is None or not is_weight(value) or isinstance(element_of(value), IntegerType):
            continue
        assert isinstance(value.owner, top.WeightOp)
        size = magnitude(as_numbers(weights[required_name(value.owner)], element_of(value)))
        if isinstance(op, top.ConvOp | top.DeconvOp) and place == len(op.operands) - 1:
            continue  # biases of convolutions are f32
        is_factor = isinstance(op, (*PRODUCTS, *NORMS)) and place == 1
        is_factor = is_factor or (isinstance(op, top.MulOp | top.MatMulOp) and place == 0)
        if is_factor and size < LEAST and _fades_beside_bias(op, weights):
            continue
        found.append(Constant(size, is_factor))
    return found


def _fades_beside_bias(op: Operation, weights: Weights) -> bool:
    """Whether a bias is everywhere larger than what digits that f16 loses of the weights add up to.

    They are below `LEAST`, and of so many products of random signs the root counts: `x * w + 1` of
    gates that have not been trained.
    """
    if not isinstance(op, top.ConvOp | top.DeconvOp | top.MatMulOp):
        return False
    _, weight, bias = op.operands[:3]
    if is_none(bias) or not is_weight(bias) or not is_weight(weight):
        return False
    terms = as_numbers(weights[required_name(bias)], element_of(bias))
    count = math.prod(shape_of(weight)) / max(terms.size, 1)
    return float(np.abs(terms).min(initial=np.inf)) >= LEAST * math.sqrt(count)


def _is_divided_by(value: SSAValue) -> bool:
    """Whether something divides by a value, takes its logarithm or the like."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, top.DivOp):
            if use.index == (0 if op.is_reverse.value.data else 1):
                return True
        elif isinstance(op, DIVIDING) or (isinstance(op, MOVES) and _is_divided_by(op.results[0])):
            return True
    return False


def _is_guard(op: Operation, own: Mapping[Operation, Sequence[Constant]]) -> bool:
    return any(one.size < VANISHING and not one.is_factor for one in own.get(op, ())) or (
        isinstance(op, top.CompareConstOp) and op in own
    )


def _sizes(
    ops: Sequence[Operation], own: Mapping[Operation, Sequence[Constant]], ends: Ends
) -> dict[SSAValue, float]:
    """How large results are beside what comes into the network, where that is not usual."""
    sizes: dict[SSAValue, float] = {}
    for op in ops:
        size = _size(op, _given(op, sizes))
        for one in own.get(op, ()):
            if isinstance(op, BOUNDED) or _is_guard(op, {op: [one]}):
                continue
            if one.is_factor and not (one.size > LARGEST and ends.is_mask(op.results[0])):
                size *= one.size
            elif not one.is_factor and not ends.is_bounded(op.results[0]):
                size = max(size, one.size)
        if isinstance(op, top.MulConstOp) and op not in own and not holds(size):
            size *= abs(op.const_val.value.data) or 1.0
        for result in op.results:
            if size != 1:
                sizes[result] = size
    return sizes


def _given(op: Operation, sizes: Mapping[SSAValue, float]) -> list[float]:
    """The sizes of what is computed among the operands."""
    computed = [value for value in op.operands if not is_none(value) and not is_weight(value)]
    return [sizes.get(value, 1.0) for value in computed if not is_integer_tensor(value)]


def _size(op: Operation, given: Sequence[float]) -> float:
    if not given or not isinstance(op, SCALED):
        return 1.0
    match op:
        case top.MulOp() | top.MatMulOp():
            return float(np.prod(given))
        case top.DivOp() if len(given) > 1:
            a, b = reversed(given) if op.is_reverse.value.data else given
            return a / b
        case top.ReciprocalOp():
            return 1 / given[0]
        case top.SqrtOp():
            return given[0] ** 0.5
        case top.ClipOp():
            bound = max(abs(op.min.value.data), abs(op.max.value.data))
            return 1.0 if bound <= LARGEST and given[0] > LARGEST else given[0]
        case _:
            return max(given)


def _fading(ops: Sequence[Operation], sizes: Mapping[SSAValue, float]) -> set[Operation]:
    """Ops with small results that are only added to usual ones."""
    found: set[Operation] = set()

    def fades(user: Operation) -> bool:
        if is_sum(user):
            return sizes.get(user.results[0], 1.0) >= LEAST
        return isinstance(user, CARRIERS) and user in found

    for op in reversed(ops):
        if sizes.get(op.results[0], 1.0) < LEAST and all_readers(op.results[0], fades):
            found.add(op)
    return found
