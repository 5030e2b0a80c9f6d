"""From tables of rules to functions that xDSL's interpreter runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.ir import Operation

from xdsl_tpu.dialects.interpreters.call import Call, Rule, Value
from xdsl_tpu.dialects.interpreters.elements import (
    conform,
    element_type,
    is_absent,
    static_shape,
    uniform_type,
)

Array = npt.NDArray[Any]
Rules: TypeAlias = Mapping[Rule, Sequence[type[Operation]]]
"""The ops each rule serves; often one of `top` and one of `tpu`."""


def relu(x: Array, limit: float) -> Array:
    """max(x, 0), clipped at `limit` unless that is negative."""
    x = np.maximum(x, 0)
    return np.minimum(x, np.float32(limit)) if limit >= 0 else x


def _finish(call: Call, index: int, value: Value, exact: bool) -> Value:
    """The fused relu, then the check of the shape, then the rounding to the result's type."""
    result = call.op.results[index]
    if value is None or is_absent(result.type):
        return None
    if index == 0 and call.has("do_relu") and call.flag("do_relu"):
        value = relu(value, call.number("relu_limit"))
        exact = False
    shape = static_shape(result.type)
    if shape is not None and shape != value.shape:
        raise ValueError(f"result {index} comes out as {value.shape}, its type says {shape}")
    if exact and element_type(call.op.operands[0].type) == element_type(result.type):
        return value
    return conform(value, result.type, overwrite=not _is_shared(value, call.values))


def _memory(x: Array) -> Array:
    """The array that owns the memory `x` looks at."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def _is_shared(value: Array, operands: Sequence[Value]) -> bool:
    """Whether `value` looks at memory of an operand, or at memory numpy does not own."""
    owner = _memory(value)
    return owner.base is not None or any(
        operand is not None and _memory(operand) is owner for operand in operands
    )


def evaluate(
    rule: Rule, op: Operation, values: Sequence[Value], exact: bool = False
) -> PythonValues:
    """The results of an op by its rule; `exact` promises that no element is a new number."""
    call = Call(op, values)
    results = rule(call)
    if isinstance(results, np.ndarray):
        results = (results,)
    if len(results) != len(op.results):
        raise ValueError(f"it has {len(op.results)} results, its rule gives {len(results)}")
    return tuple(_finish(call, i, value, exact) for i, value in enumerate(results))


def works_on_integers(op: Operation) -> bool:
    """Whether the op's first operand or result is quantised."""
    return any(
        uniform_type(value.type) is not None for value in (*op.results[:1], *op.operands[:1])
    )


def evaluate_quantized(rule: Rule, op: Operation, values: Sequence[Value]) -> PythonValues:
    """The result of an op of one result by a rule that finishes it itself."""
    call = Call(op, values)
    result = rule(call)
    assert isinstance(result, np.ndarray)
    if (shape := call.shape()) is not None and shape != result.shape:
        raise ValueError(f"the result comes out as {result.shape}, its type says {shape}")
    return (result,)


def functions_of(
    family: str,
    rules: Rules,
    exact: bool = False,
    quantized: Mapping[type[Operation], Rule] | None = None,
) -> InterpreterFunctions:
    """The functions of one family, for `Interpreter.register_implementations`.

    `exact` is for families that only move elements: their results need no rounding. Rules in
    `quantized` take the place of the family's for ops on quantised integers.
    """
    integers = quantized or {}

    def method(rule: Rule, op_class: type[Operation]) -> Any:
        integer_rule = integers.get(op_class)

        @impl(op_class)
        def run(
            _: InterpreterFunctions, __: Interpreter, op: Operation, args: PythonValues
        ) -> PythonValues:
            if integer_rule is not None and works_on_integers(op):
                return evaluate_quantized(integer_rule, op, args)
            return evaluate(rule, op, args, exact)

        return run

    methods = {
        f"run_{op_class.name.replace('.', '_')}": method(rule, op_class)
        for rule, op_classes in rules.items()
        for op_class in op_classes
    }
    return register_impls(type(family, (InterpreterFunctions,), methods))()
