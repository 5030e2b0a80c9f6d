"""How much rounding in some ops alone moves a network's outputs, by the float interpreter.

Rounding stands for a number format: results of an op in 16 bits are rounded to it; an op in 8 bits
gets its operands and weights in the steps of the quantised network and leaves its result so. That
is what the lowered network computes but for multipliers and shifts, and needs no lowering.
"""

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none, is_ranked_tensor
from xdsl_tpu.dialects.interpreters import TensorInterpreter
from xdsl_tpu.dialects.interpreters.numerics.rounding import to_bf16, to_f16
from xdsl_tpu.dialects.main_function import find_main, input_names
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.calibration.steps import SIGNED_MAX, UNSIGNED_MAX, Step, is_signed
from xdsl_tpu.passes.lowering.int8.conv import filter_scales
from xdsl_tpu.passes.tensors import element_of, is_weight

Array = npt.NDArray[Any]

MOST_CACHED = 1 << 30
"""Bytes of the float network's tensors that are kept, to compute only what differs from them."""

HOPELESS = 1e6
"""The noise of outputs that are no numbers."""

_FLOATS = {"F16": to_f16, "BF16": to_bf16}

STEPLESS = (top.WeightOp, top.NoneOp)


def steps_of_lowered(module: ModuleOp) -> dict[str, Step]:
    """Tensor name -> its step in 8 bits; also of floats that are cast for a reader in 8 bits."""
    found: dict[str, Step] = {}
    for op in find_main(module)[1].body.block.ops:
        for result in op.results:
            element = element_of(result) if is_ranked_tensor(result.type) else None
            if not isinstance(element, UniformType) or len(element.scales) > 1:
                continue
            step = Step(element.scale, is_signed(element), element.zero_point)
            named = op.operands[0] if isinstance(op, tpu.CastOp) else result
            found.setdefault(name_of(named) or "", step)
    return found


def in_steps(values: Array, step: Step) -> Array:
    """Numbers as they are after rounding to 8 bits and back."""
    low, high = (-128, 127) if step.signed else (0, 255)
    scale, zero = np.float32(step.scale), step.zero_point
    return (np.clip(np.rint(values / scale) + zero, low, high) - zero) * scale


def noise(found: Array, exact: Array) -> float:
    """Energy of the difference over energy of the exact numbers."""
    ours, theirs = (array.astype(np.float64).ravel() for array in (found, exact))
    energy = float(theirs @ theirs)
    with np.errstate(all="ignore"):
        difference = ours - theirs
        ratio = float(difference @ difference) / energy if energy else float(np.any(ours))
    return min(ratio, HOPELESS) if np.isfinite(ratio) else HOPELESS


class RoundedNetwork:
    """A calibrated network on one sample, whose ops may round; see the top of this file.

    `steps` are those of `steps_of_lowered`.
    """

    def __init__(
        self, module: ModuleOp, steps: Mapping[str, Step], inputs: Mapping[str, Array]
    ) -> None:
        inner, main = find_main(module)
        self.interpreter = TensorInterpreter.of(inner, weights_of(module))
        self.dying, self.interpreter.dying = self.interpreter.dying, {}
        self.ops = list(main.body.block.ops)
        self.steps: dict[SSAValue, Step] = {
            value: steps[name]
            for op in self.ops
            for value in op.results
            if (name := name_of(value) or "") in steps and not isinstance(op, STEPLESS)
        }
        self.arguments = dict(zip(main.args, input_names(main), strict=True))
        self.inputs: dict[SSAValue, Any] = {
            value: inputs[name] for value, name in self.arguments.items()
        }
        self.weights: dict[tuple[Operation, int], Array] = {}
        self.exact: dict[SSAValue, Any] = {}
        self.outputs: list[Array] = []
        """The exact outputs that `noise` compares with; known once it has been asked."""

    def on(self, inputs: Mapping[str, Array]) -> "RoundedNetwork":
        """The same network on another sample."""
        other = copy(self)
        other.inputs = {value: inputs[name] for value, name in self.arguments.items()}
        other.exact, other.outputs = {}, list[Array]()
        return other

    def noise(self, modes: Mapping[Operation, str]) -> float:
        """The largest noise of any output when these ops compute in these formats."""
        if not self.outputs:
            self.outputs = self._run({}, keep=True)
        found = self._run(modes)
        pairs = zip(found, self.outputs, strict=True)
        return max((noise(ours, theirs) for ours, theirs in pairs), default=0.0)

    def _run(self, modes: Mapping[Operation, str], keep: bool = False) -> list[Array]:
        """The outputs; with `keep` all tensors are remembered, unless they are too many."""
        values: dict[SSAValue, Any] = {} if self.exact else dict(self.inputs)
        kept, room = dict[SSAValue, Any](), MOST_CACHED
        for op in self.ops:
            if isinstance(op, ReturnOp):
                break
            changed = op in modes or any(value in values for value in op.operands)
            if self.exact and not changed:
                continue
            results = self.run_op(op, [self._value(v, values) for v in op.operands], modes.get(op))
            values.update(zip(op.results, results, strict=True))
            if keep and room >= 0:
                kept.update(zip(op.results, results, strict=True))
                room -= sum(getattr(one, "nbytes", 0) for one in results)
            for value in self.dying.get(op, ()):
                values.pop(value, None)
        if keep and room >= 0:
            self.exact = {**self.inputs, **kept}
        return [self._value(value, values) for value in self.ops[-1].operands]

    def _value(self, value: SSAValue, values: Mapping[SSAValue, Any]) -> Any:
        return values[value] if value in values else self.exact[value]

    def run_op(self, op: Operation, operands: list[Any], mode: str | None) -> tuple[Any, ...]:
        """An op's results in a format (None: exactly)."""
        if mode == "INT8":
            operands = [self._operand(op, i, value) for i, value in enumerate(operands)]
        elif mode in _FLOATS:
            pairs = zip(op.operands, operands, strict=True)
            operands = [self._rounded(v, x, mode) if is_weight(v) else x for v, x in pairs]
        results = self.interpreter.run_op(op, tuple(operands))
        if mode is None or mode == "F32":
            return results
        pairs = zip(op.results, results, strict=True)
        return tuple(self._rounded(result, value, mode) for result, value in pairs)

    def operands_in_8_bits(self, op: Operation, values: Mapping[SSAValue, Any]) -> list[Any]:
        """What an op in 8 bits gets of these values."""
        return [self._operand(op, i, values[value]) for i, value in enumerate(op.operands)]

    def in_8_bits(self, result: SSAValue, value: Array) -> Array:
        """A result as an op in 8 bits leaves it."""
        step = self.steps.get(result)
        return value if step is None else in_steps(value, step)

    def _operand(self, op: Operation, place: int, value: Any) -> Any:
        operand = op.operands[place]
        if is_none(operand) or getattr(value, "dtype", None) != np.float32:
            return value
        if is_weight(operand):
            if (op, place) not in self.weights:
                self.weights[op, place] = _quantised_weight(op, place, value)
            return self.weights[op, place]
        return self.in_8_bits(operand, value)

    def _rounded(self, result: SSAValue, value: Any, mode: str) -> Any:
        if getattr(value, "dtype", None) != np.float32:
            return value
        if mode == "INT8":
            return self.in_8_bits(result, value)
        return _FLOATS[mode](value)


def _quantised_weight(op: Operation, place: int, values: Array) -> Array:
    """A weight of an op in 8 bits: filters by channel, others whole, biases as they are."""
    if isinstance(op, top.ConvOp):
        if place != 1:
            return values
        scales = filter_scales(values, not is_none(op.bias) or float(values.min(initial=0)) < 0)
        shaped = scales.astype(np.float32).reshape(-1, *[1] * (values.ndim - 1))
        return np.rint(values / shaped) * shaped
    if isinstance(op, top.MatMulOp) and place > 1:
        return values
    signed = float(values.min(initial=0)) < 0 or isinstance(op, top.MatMulOp)
    largest = float(np.abs(values).max(initial=0))
    step = Step((largest / (SIGNED_MAX if signed else UNSIGNED_MAX)) or 1.0, signed)
    return in_steps(values, step)
