"""Is the distance between a network and its 16-bit form what rounding explains?

A fixed tolerance is too wide for most networks and too narrow for some: a LayerNorm over two
close numbers, the sine of a large product or a comparison near its threshold makes much of a
little. So the network itself says how far rounding carries: it runs in F32 again and again, each
result of a computing op off by a random part of what rounding may change. What the passes give
must stay near what these runs reach, element by element.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.passes.semantics import compiled, random_inputs, run
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.interpreter import OpImplResult, PythonValues
from xdsl.ir import Operation

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters.interpreter import FAMILIES, TensorInterpreter, TraceListener
from xdsl_tpu.dialects.main_function import find_main, input_names
from xdsl_tpu.dialects.weights import weights_of

Array = npt.NDArray[Any]

UNIT = {"F16": 2.0**-11, "BF16": 2.0**-8}
"""Largest relative error of one rounding."""

_SMALLEST = {"F16": 2.0**-25, "BF16": 0.0}
"""Largest error of rounding a subnormal number."""

_EXACT = frozenset(
    op.name
    for op in (
        *(op for ops in FAMILIES["movement"].values() for op in ops),
        *(top.CompareOp, top.CompareConstOp, top.MaskedFillOp, ReturnOp),
    )
)
"""Ops that make no number of their own that rounding could change."""

RUNS = 24
NOISE = 2.0
"""Units of rounding that one op's result is off by: passes may round twice where one op was."""

MARGIN = 2.0
"""How much farther than the noisy runs the passes may be; random runs miss the worst case."""


class _Noisy(TensorInterpreter):
    """An interpreter whose computing ops are off by up to `relative` and `absolute`."""

    rng: np.random.Generator
    relative: float
    absolute: float

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        result = super()._run_op(op, inputs)
        if op.name in _EXACT:
            return result
        return result._replace(values=tuple(self._off(value) for value in result.values))

    def _off(self, value: Array | None) -> Array | None:
        if value is None or value.dtype.kind != "f":
            return value
        noise = self.rng.uniform(-1, 1, value.shape)
        off = value * (1 + self.relative * noise) + self.absolute * noise
        return off.astype(np.float32)


@dataclass(frozen=True)
class Excess:
    """A tensor and how far it is off, in parts of what rounding explains: above 1 is too far."""

    name: str
    ratio: float
    error: float
    explained: float

    def __str__(self) -> str:
        return f"'{self.name}' is off by {self.error:.2e}, rounding explains {self.explained:.2e}"


def assert_rounding_explains(network: ModuleOp, passes: str, mode: str, seed: int = 0) -> ModuleOp:
    """The tensors that are still there after `passes` are where rounding in `mode` may put them.

    Returns the module after the passes.
    """
    after = compiled(network, passes)
    worst = largest_excess(network, after, mode, seed)
    assert worst.ratio <= 1, f"seed {seed} in {mode}: {worst}"
    return after


def largest_excess(network: ModuleOp, changed: ModuleOp, mode: str, seed: int = 0) -> Excess:
    """The element that is off by the most, of all tensors that are still there by their names."""
    inputs = random_inputs(network, seed)
    exact = _all(*run(network, inputs))
    after = _all(*run(changed, inputs))
    reached = {name: np.zeros(array.size) for name, array in exact.items()}
    for noise in range(RUNS):
        for name, array in _noisy_run(network, inputs, mode, noise).items():
            np.maximum(reached[name], _distance(array, exact[name]), out=reached[name])
    excesses: list[Excess] = []
    for name in exact.keys() & after.keys():
        error = _distance(after[name], exact[name])
        floor = UNIT[mode] * float(np.abs(exact[name]).max(initial=0)) + 2.0**-100
        explained = MARGIN * reached[name] + floor
        ratio = np.nan_to_num(error / explained, nan=np.inf)
        at = int(np.argmax(ratio))
        excesses.append(Excess(name, float(ratio[at]), float(error[at]), float(explained[at])))
    return max(excesses, key=lambda one: one.ratio)


def _distance(one: Array, other: Array) -> Array:
    assert one.size == other.size, f"shapes {one.shape} and {other.shape}"
    return np.abs(one.ravel().astype(np.float64) - other.ravel())


def _all(named: dict[str, Array], outputs: list[Array]) -> dict[str, Array]:
    return named | {f"output {index}": array for index, array in enumerate(outputs)}


def _noisy_run(
    module: ModuleOp, inputs: dict[str, Array], mode: str, seed: int
) -> dict[str, Array]:
    """All tensors of one run whose ops are a little off."""
    inner, main = find_main(module)
    seen: dict[str, Array] = {}
    listener = TraceListener(lambda name, array: seen.update({name: array}))
    interpreter = _Noisy.of(inner, weights_of(module), (listener,))
    assert isinstance(interpreter, _Noisy)
    interpreter.rng = np.random.default_rng(seed)
    interpreter.relative = NOISE * UNIT[mode]
    interpreter.absolute = NOISE * _SMALLEST[mode]
    arguments = tuple(inputs[name] for name in input_names(main))
    return _all(seen, list(interpreter.call_op(main, arguments)))
