"""Bias correction: the mean error of each output channel of a layer goes into its bias.

Rounded weights and operands move the mean of what a channel computes. The empirical correction
of M. Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction"
(2019), section 4.2: layer by layer, in order, so that each sees what those before it, corrected,
give; before the ReLU, if the layer has one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.tensors import is_weight, required_name
from xdsl_tpu.tools.mixing.rounding import STEPLESS, RoundedNetwork

Array = npt.NDArray[Any]
Values = dict[SSAValue, Any]


def measure_corrections(
    networks: Sequence[RoundedNetwork], eight: Mapping[Operation, str]
) -> dict[str, list[float]]:
    """Op name -> what to add to its bias, for each channel; `networks` are one network on samples.

    `eight` gives the formats of the ops that round; those of them with a constant filter and a
    constant bias or none are corrected.
    """
    exact: list[Values] = [{**one.inputs} for one in networks]
    rounded: list[Values] = [{**one.inputs} for one in networks]
    first, found = networks[0], dict[str, list[float]]()
    for op in first.ops:
        if isinstance(op, ReturnOp):
            break
        corrected = op in eight and _has_bias(op)
        if corrected:
            found[required_name(op)] = _corrected(networks, op, exact, rounded)
        for one, true, near in zip(networks, exact, rounded, strict=True):
            results = one.run_op(op, [true[value] for value in op.operands], None)
            true.update(zip(op.results, results, strict=True))
            if not corrected:
                same = isinstance(op, STEPLESS)
                operands = [near[value] for value in op.operands]
                found_near = results if same else one.run_op(op, operands, eight.get(op))
                near.update(zip(op.results, found_near, strict=True))
            for value in first.dying.get(op, ()):
                true.pop(value, None)
                near.pop(value, None)
    return found


def _has_bias(op: Operation) -> bool:
    """Whether a constant can be added to each channel of what an op computes."""
    if isinstance(op, top.ConvOp):
        return is_weight(op.filter) and (is_none(op.bias) or is_weight(op.bias))
    if isinstance(op, top.MatMulOp):
        plain = is_weight(op.right) and not op.output_transpose.value.data
        return plain and (is_none(op.bias) or is_weight(op.bias))
    return False


def _corrected(
    networks: Sequence[RoundedNetwork],
    op: Operation,
    exact: Sequence[Values],
    rounded: Sequence[Values],
) -> list[float]:
    """The correction of one op, whose corrected results become those of `rounded`."""
    assert isinstance(op, top.ConvOp | top.MatMulOp)
    relu = bool(op.do_relu.value.data)
    axis = 1 if isinstance(op, top.ConvOp) else -1
    op.do_relu = BOOL.encode(False)
    try:
        found: list[Array] = []
        errors: list[Array] = []
        for one, true, near in zip(networks, exact, rounded, strict=True):
            (wanted,) = one.run_op(op, [true[value] for value in op.operands], None)
            (given,) = one.run_op(op, one.operands_in_8_bits(op, near), None)
            found.append(given)
            others = tuple(i for i in range(wanted.ndim) if i != axis % wanted.ndim)
            errors.append((wanted.astype(np.float64) - given).mean(axis=others))
    finally:
        op.do_relu = BOOL.encode(relu)
    correction = np.mean(errors, axis=0).astype(np.float32)
    shape = [-1 if i == axis % found[0].ndim else 1 for i in range(found[0].ndim)]
    for one, near, given in zip(networks, rounded, found, strict=True):
        moved = given + correction.reshape(shape)
        moved = np.maximum(moved, 0) if relu else moved
        near[op.results[0]] = one.in_8_bits(op.results[0], moved)
    return cast(list[float], correction.tolist())
