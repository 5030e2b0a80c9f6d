"""What connects a job with the world: inputs, outputs and variables.

OneFlow calls these system ops; they may have control edges to other ops, which order them.
"""

from abc import ABC

from xdsl.irdl import (
    attr_def,
    operand_def,
    opt_attr_def,
    opt_result_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, dims, known_shape
from xdsl_tpu.dialects.oneflow.base import (
    BOOL,
    DATA_TYPE,
    ELEMENTS,
    F32,
    SI64,
    SI64_ARRAY,
    TEXT,
    TEXT_ARRAY,
    OneFlowOp,
)
from xdsl_tpu.dialects.oneflow.layout import ElementsLayout, VariableLayout
from xdsl_tpu.dialects.oneflow.segments import oneflow_op
from xdsl_tpu.dialects.sbp import ParallelSignatureAttr
from xdsl_tpu.dialects.traits import OwnResult, StoredValues


class _SystemOp(OneFlowOp, ABC):
    """Declared shape and data type; control operands, and a control result."""

    shape = opt_attr_def(SI64_ARRAY)
    data_type = opt_attr_def(DATA_TYPE)

    def _with_control(self, shape: Shape) -> tuple[Shape, ...]:
        """`shape`, and whatever the control result is declared as."""
        controls = (known_shape(result.type) or () for result in self.results[1:])
        return (shape, *controls)

    def verify_(self) -> None:
        super().verify_()
        declared, shape = self.shape, known_shape(self.results[0].type)
        if declared is not None and shape is not None and ints(declared) != shape:
            raise VerifyException(
                f"attribute shape is {dims(ints(declared))}, the result {dims(shape)}"
            )


class EndOp(_SystemOp, ABC):
    """A tensor that passes the boundary of the job, unchanged."""

    input = operand_def(RANKED)
    ctrl_inputs = var_operand_def()
    output = result_def(RANKED)
    ctrl_output = opt_result_def()
    is_dynamic = opt_attr_def(BOOL)
    nd_sbp = opt_attr_def(TEXT_ARRAY)
    job_name = opt_attr_def(TEXT)

    def result_shapes(self) -> tuple[Shape, ...]:
        return self._with_control(self.shape_of(self.input))


@oneflow_op
class InputOp(EndOp):
    """An argument of the job, under its name."""

    name = "oneflow.input"

    traits = traits_def(Pure())


@oneflow_op
class OutputOp(EndOp):
    """A result of the job, under its name."""

    name = "oneflow.output"

    traits = traits_def(Pure())


@oneflow_op
class VariableOp(_SystemOp):
    """A parameter of the network: the entry of the weight file under the op's `op_name`."""

    name = "oneflow.variable"

    ctrl_inputs = var_operand_def()
    output = result_def(RANKED)
    ctrl_output = opt_result_def()
    model_name = opt_attr_def(TEXT)
    l1_regularization = opt_attr_def(F32)
    l2_regularization = opt_attr_def(F32)
    trainable = opt_attr_def(BOOL)
    float_initializer = opt_attr_def(F32)
    integer_initializer = opt_attr_def(SI64)
    parallel = opt_attr_def(ParallelSignatureAttr)

    traits = traits_def(OwnResult(), StoredValues(), VariableLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        return self._with_control(self.shape_of_result())

    def shape_of_result(self) -> Shape:
        """The shape the type gives; a variable has one."""
        shape = known_shape(self.output.type)
        return () if shape is None else shape


@oneflow_op
class VariableIROp(OneFlowOp):
    """A parameter with its numbers in the text; OneFlow has them while it folds constants."""

    name = "oneflow.variable_ir"

    output = result_def(RANKED)
    value = attr_def(ELEMENTS)
    nd_sbp = opt_attr_def(TEXT_ARRAY)

    traits = traits_def(Pure(), ElementsLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (known_shape(self.value.type) or (),)
