"""Building jobs in Python.

job = JobBuilder("net")
x = job.input("x", 1, 3, 8, 8)
y = job.op(oneflow.ReluOp, "relu", x)
module = job.module(y)
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
    ModuleOp,
    TensorType,
    UnknownLoc,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import OptResultDef

from xdsl_tpu.dialects.attrs import Value
from xdsl_tpu.dialects.base import UNRANKED_F32
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.oneflow.base import OneFlowOp
from xdsl_tpu.dialects.oneflow.job import JobOp, ReturnOp
from xdsl_tpu.dialects.oneflow.segments import OperandSegments
from xdsl_tpu.dialects.oneflow.system import InputOp, OutputOp, VariableOp

_ELEMENTS: dict[str, Attribute] = {"mask": IntegerType(8), "indice": i64}
"""Elements of results that are no numbers of the network, by their names."""


class JobBuilder:
    """A job under construction, for one device; shapes are inferred op by op."""

    def __init__(self, name: str, element: Attribute = f32, device_tag: str = "cuda") -> None:
        self._name = name
        self._element = element
        self._block = Block()
        self._placement: dict[str, Value] = {
            "device_tag": device_tag,
            "device_name": ["@0:0"],
            "hierarchy": [1],
        }

    def input(self, name: str, *shape: int) -> SSAValue:
        """An argument of the job."""
        argument = self._block.insert_arg(TensorType(self._element, shape), len(self._block.args))
        return self.op(InputOp, name, argument)

    def variable(self, name: str, *shape: int) -> SSAValue:
        """A parameter, whose values are in the weight file under `name`."""
        made = VariableOp.make(
            UnknownLoc(),
            (),
            result_types=[TensorType(self._element, shape)],
            regions=(),
            op_name=name,
            shape=shape,
            **self._placement,
        )
        self._block.add_op(made)
        return made.output

    def op(
        self, kind: type[OneFlowOp], name: str, *operands: SSAValue | None, **attributes: Value
    ) -> SSAValue:
        """The first result of a new op; None stands for an optional operand that is absent.

        Raises TpuError when shapes or attributes do not fit.
        """
        return self.ops(kind, name, *operands, **attributes)[0]

    def ops(
        self, kind: type[OneFlowOp], name: str, *operands: SSAValue | None, **attributes: Value
    ) -> Sequence[SSAValue]:
        """All results of a new op, without those its definition calls optional."""
        present = [operand for operand in operands if operand is not None]
        sizes = self._sizes(kind, operands)
        names = [
            result
            for result, definition in kind.get_irdl_definition().results
            if not isinstance(definition, OptResultDef)
        ]

        def make(types: Sequence[Attribute]) -> OneFlowOp:
            made = kind.make(
                UnknownLoc(),
                present,
                result_types=types,
                regions=(),
                op_name=name,
                **self._placement,
                **attributes,
            )
            made.attributes |= sizes
            return made

        draft = make([UNRANKED_F32] * len(names))
        shapes = draft.infer_shapes()
        draft.erase()
        made = make([self._type(n, shape) for n, shape in zip(names, shapes, strict=True)])
        self._block.add_op(made)
        return made.results

    def module(self, *outputs: SSAValue) -> ModuleOp:
        """The finished job in a module of its own, its results called `output_0` and so on."""
        results = [
            self.op(OutputOp, f"output_{index}", value) for index, value in enumerate(outputs)
        ]
        self._block.add_op(ReturnOp(*results))
        inputs = [argument.type for argument in self._block.args]
        kinds = [result.type for result in results]
        return ModuleOp([JobOp(self._name, inputs, kinds, Region(self._block))])

    def _type(self, result: str, shape: Shape) -> TensorType[Attribute]:
        return TensorType(_ELEMENTS.get(result, self._element), shape)

    def _sizes(
        self, kind: type[OneFlowOp], operands: Sequence[SSAValue | None]
    ) -> dict[str, Attribute]:
        """The attribute that says which operands are there, for ops that have it."""
        definition = kind.get_irdl_definition()
        if not any(isinstance(option, OperandSegments) for option in definition.options):
            return {}
        count = len(definition.operands)
        given = [*(int(operand is not None) for operand in operands), *[0] * count][:count]
        return {OperandSegments.attribute_name: DenseArrayBase.from_list(i32, given)}
