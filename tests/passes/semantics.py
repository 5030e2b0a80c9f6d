"""Does a pass change what a network computes? Networks in Python, and the comparison.

net = Net()
x = net.input("x", 1, 4, 8, 8)
y = net.op(top.AddOp, "y", (x, net.weight("w", 1, 4, 1, 1)))
after = assert_same_numbers(net.module(y), "canonicalize")
assert kinds(after) == ["Scale"]
"""

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import (
    FunctionType,
    ModuleOp,
    NoneType,
    StringAttr,
    TensorType,
    UnknownLoc,
    f32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import UNRANKED_F32, NamedOp
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, module_text, parse_module
from xdsl_tpu.dialects.weights import WEIGHT_FILE, Weights, attach, weights_of
from xdsl_tpu.passes.pipeline import make_pass, parse_pipeline
from xdsl_tpu.passes.tensors import shape_of

Array = npt.NDArray[Any]


class Net:
    """A function @main under construction; shapes are inferred when it is complete."""

    def __init__(self) -> None:
        self._block = Block()
        self.weights = Weights()
        self.none = self._add(top.NoneOp.make(UnknownLoc(), (), result_types=[NoneType()]))

    def input(self, name: str, *shape: int) -> SSAValue:
        """An f32 input of the network."""
        kind = TensorType(f32, shape)
        argument = self._block.insert_arg(kind, len(self._block.args))
        return self._add(top.InputOp.make(name, (argument,), result_types=[kind]))

    def weight(self, name: str, *shape: int, values: npt.ArrayLike | None = None) -> SSAValue:
        """A weight, of seeded random numbers unless `values` are given."""
        array = random_array(name, shape) if values is None else np.asarray(values, np.float32)
        self.weights[name] = array
        return self._add(top.WeightOp.make(name, (), result_types=[TensorType(f32, array.shape)]))

    def op(
        self, kind: type[NamedOp], name: str, operands: Sequence[SSAValue], **attributes: Any
    ) -> SSAValue:
        """An op of one result."""
        return self._add(kind.make(name, operands, **attributes))

    def ops(
        self,
        kind: type[NamedOp],
        names: Sequence[str],
        operands: Sequence[SSAValue],
        **attributes: Any,
    ) -> Sequence[SSAValue]:
        """An op of several results, one name each."""
        made = kind.make(names, operands, result_types=[UNRANKED_F32] * len(names), **attributes)
        self._block.add_op(made)
        return made.results

    def module(self, *outputs: SSAValue) -> ModuleOp:
        """The finished network, its shapes inferred, its weights attached."""
        self._block.add_op(ReturnOp(*outputs))
        inputs = [argument.type for argument in self._block.args]
        kind = FunctionType.from_lists(inputs, [output.type for output in outputs])
        module = ModuleOp(
            [FuncOp("main", kind, Region(self._block))], {WEIGHT_FILE: StringAttr("w.npz")}
        )
        attach(module, self.weights)
        make_pass("shape-infer").apply(make_context(), module)
        module.verify()
        return module

    def add(self, op: Operation) -> SSAValue:
        """An op made elsewhere."""
        return self._add(op)

    def _add(self, op: Operation) -> SSAValue:
        self._block.add_op(op)
        return op.results[0]


def assert_same_numbers(
    network: ModuleOp | str, passes: str, seed: int = 0, tolerance: float = 1e-5
) -> ModuleOp:
    """Run a network before and after `passes` (an xDSL pipeline) on random numbers and compare.

    Text gets random weights, one for every `top.Weight`. Not only the outputs must agree, but
    all tensors that have the same name before and after, as names say what a tensor is. The
    module after the passes is returned; it verifies, and its ops have distinct names.
    """
    module = _with_random_weights(network, seed) if isinstance(network, str) else network
    inputs = random_inputs(module, seed)
    before, outputs_before = run(module, inputs)
    after_module = compiled(module, passes)
    after, outputs_after = run(after_module, inputs)
    assert len(outputs_before) == len(outputs_after)
    for one, other in zip(outputs_before, outputs_after, strict=True):
        _compare("an output", one, other, tolerance)
    for name in before.keys() & after.keys():
        _compare(f"tensor '{name}'", before[name], after[name], tolerance)
    return after_module


def compiled(module: ModuleOp, passes: str) -> ModuleOp:
    """A copy of a network after `passes`; it verifies, and its ops have distinct names."""
    after = parse_module(module_text(module))
    attach(after, _copied(weights_of(module)))
    for one in parse_pipeline(passes):
        one.apply(make_context(), after)
        after.verify()
    _check_names(after)
    return after


def random_inputs(module: ModuleOp, seed: int) -> dict[str, Array]:
    """Normal numbers for every input of a network, the same for the same seed."""
    return {
        str(name_of(op)): random_array(f"input {name_of(op)}", shape_of(op.output), seed)
        for op in ops_of(module, top.InputOp)
    }


def run(module: ModuleOp, inputs: dict[str, Array]) -> tuple[dict[str, Array], list[Array]]:
    """All tensors by their names, and the outputs in order."""
    seen: dict[str, Array] = {}
    outputs = run_module(module, inputs, trace=lambda name, array: seen.update({name: array}))
    return seen, list(outputs.values())


def kinds(module: ModuleOp) -> list[str]:
    """The computing ops of @main in order: no weights, inputs, nones or return."""
    passive = (top.WeightOp, top.InputOp, top.NoneOp, ReturnOp, FuncOp, ModuleOp)
    return [op.name.partition(".")[2] for op in module.walk() if not isinstance(op, passive)]


def ops_of(module: ModuleOp, kind: type[Operation]) -> list[Any]:
    """All ops of one class, in order."""
    return [op for op in module.walk() if isinstance(op, kind)]


def random_array(name: str, shape: Sequence[int], seed: int = 0) -> npt.NDArray[np.float32]:
    """Normal numbers, the same for the same name and seed."""
    rng = np.random.default_rng((zlib.crc32(name.encode()), seed))
    return rng.standard_normal(shape, dtype=np.float32)


def _with_random_weights(text: str, seed: int) -> ModuleOp:
    module = parse_module(text)
    weights = Weights()
    for op in ops_of(module, top.WeightOp):
        weights[str(name_of(op))] = random_array(str(name_of(op)), shape_of(op.output), seed)
    module.attributes.setdefault(WEIGHT_FILE, StringAttr("w.npz"))
    attach(module, weights)
    return module


def _copied(weights: Weights) -> Weights:
    copied = Weights()
    copied.update(weights)
    return copied


def _check_names(module: ModuleOp) -> None:
    named = [
        op for op in module.walk() if op.dialect_name() == "top" and not isinstance(op, top.NoneOp)
    ]
    names = [name_of(op) for op in named]
    assert None not in names, f"{named[names.index(None)].name} has no name"
    repeated = {name for name in names if names.count(name) > 1}
    assert not repeated, f"several ops are called {repeated}"


def _compare(what: str, before: Array, after: Array, tolerance: float) -> None:
    """Equal up to rounding; a dimension of size 1 more or less is no difference."""
    assert before.size == after.size, f"{what} had shape {before.shape}, now {after.shape}"
    scale = max(1.0, float(np.abs(before).max(initial=0)))
    np.testing.assert_allclose(
        after.ravel(), before.ravel(), rtol=0, atol=tolerance * scale, err_msg=what
    )
