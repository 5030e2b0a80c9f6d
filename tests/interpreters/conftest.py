"""Two ways to compute one operator: the interpreter on a module of one op, and onnxruntime."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp, NoneType, TensorType, UnrankedTensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interpreters import run_module

Array = npt.NDArray[Any]
Outputs = Sequence[int | None]


def one_op_module(
    op_class: type[NamedOp],
    operands: Sequence[Array | None],
    result_types: Sequence[Attribute],
    operand_element: Attribute,
    attributes: dict[str, Any],
) -> ModuleOp:
    """`main` with one input per operand (none for None) and one op, all of whose results return."""
    types = [TensorType(operand_element, a.shape) for a in operands if a is not None]
    block = Block(arg_types=types)
    none = top.NoneOp.make("none", (), result_types=[NoneType()])
    block.add_op(none)
    values: list[SSAValue] = []
    arguments = iter(block.args)
    for index, operand in enumerate(operands):
        if operand is None:
            values.append(none.output)
            continue
        argument = next(arguments)
        read = top.InputOp.make(f"x{index}", (argument,), result_types=[argument.type])
        block.add_op(read)
        values.append(read.output)
    names = [f"y{index}" for index in range(len(result_types))]
    op = op_class.make(names, values, result_types=result_types, **attributes)
    block.add_op(op)
    returned = [r for r in op.results if not isinstance(r.type, NoneType)]
    block.add_op(ReturnOp(*returned))
    function = FuncOp("main", (types, [r.type for r in returned]), Region(block))
    return ModuleOp([function])


@pytest.fixture
def run_op() -> Callable[..., list[Array]]:
    """Interpret one op: (class, operands, results=1 or types, element=f32, **attributes)."""

    def run(
        op_class: type[NamedOp],
        operands: Sequence[Array | None],
        results: int | Sequence[Attribute] = 1,
        element: Attribute = f32,
        **attributes: Any,
    ) -> list[Array]:
        types = [UnrankedTensorType(f32)] * results if isinstance(results, int) else results
        module = one_op_module(op_class, operands, types, element, attributes)
        return list(run_module(module, [a for a in operands if a is not None]).values())

    return run


@pytest.fixture
def run_onnx() -> Callable[..., list[Array]]:
    """Run one ONNX operator on onnxruntime: (operator, operands, results=1, **attributes)."""

    def run(
        operator: str,
        operands: Sequence[Array | None],
        results: int = 1,
        opset: int = 18,
        **attributes: Any,
    ) -> list[Array]:
        names = [f"x{i}" if a is not None else "" for i, a in enumerate(operands)]
        outputs = [f"y{i}" for i in range(results)]
        node = helper.make_node(operator, names, outputs, **attributes)
        constants = [
            numpy_helper.from_array(a, name)
            for name, a in zip(names, operands, strict=True)
            if a is not None
        ]
        values = [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n in outputs]
        graph = helper.make_graph([node], "one", [], values, constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 9
        model = onnx.shape_inference.infer_shapes(model)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        found = cast(Any, session).run(None, {})
        return [np.asarray(array) for array in found]

    return run


@pytest.fixture
def normal() -> Callable[..., Array]:
    """Seeded float32 normal numbers of a shape: normal(2, 3, seed=1)."""

    def make(*shape: int, seed: int = 0) -> Array:
        return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)

    return make
