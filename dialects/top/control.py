"""Control flow, containers and user ops."""

from xdsl.ir import Region
from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsTerminator, Pure

from xdsl_tpu.dialects.attrs import DICT_ARRAY, TEXT
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, UnknownShapeError, known_shape
from xdsl_tpu.dialects.top.abstract import ShapedOp
from xdsl_tpu.dialects.top.layout import IfLayout, LoopLayout


@irdl_op_definition
class IfOp(ShapedOp):
    """The results of `then_branch` when the condition is not 0, of `else_branch` otherwise."""

    name = "top.If"

    cond = operand_def(TENSOR)
    output = var_result_def(TENSOR)
    then_branch = region_def()
    else_branch = region_def()

    traits = traits_def(IfLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        taken, other = (self._yielded(branch) for branch in (self.then_branch, self.else_branch))
        if taken != other:
            raise ShapeError("the branches yield different shapes")
        return taken

    def _yielded(self, branch: Region) -> tuple[Shape, ...]:
        last = branch.block.last_op
        if not isinstance(last, YieldOp):
            raise ShapeError("a branch does not end with top.Yield")
        shapes = [known_shape(value.type) for value in last.arguments]
        if None in shapes:
            raise UnknownShapeError("the shapes that a branch yields are not known")
        return tuple(shape for shape in shapes if shape is not None)


@irdl_op_definition
class LoopOp(NamedOp):
    """Runs `body` up to `M` times while its condition holds (ONNX operators, Loop).

    The body takes the iteration number, the condition and the carried values; it yields the
    condition, the carried values and one slice for each scan output.
    """

    name = "top.Loop"

    M = operand_def(TENSOR_OR_NONE)
    cond = operand_def(TENSOR_OR_NONE)
    v_initial = var_operand_def(TENSOR_OR_NONE)
    v_final_and_scan_outputs = var_result_def(TENSOR_OR_NONE)
    body = region_def()

    traits = traits_def(LoopLayout())


@irdl_op_definition
class YieldOp(NamedOp):
    """Ends a branch or a loop body and hands out its values."""

    name = "top.Yield"

    arguments = var_operand_def(TENSOR)

    traits = traits_def(HasParent(IfOp, LoopOp), IsTerminator())


@irdl_op_definition
class TupleOp(NamedOp):
    """Several tensors as one value (torch)."""

    name = "top.Tuple"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class UnTupleOp(NamedOp):
    """The tensors that a tuple was made of (torch)."""

    name = "top.UnTuple"

    inputs = var_operand_def(TENSOR)
    outputs = var_result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class ListOp(NamedOp):
    """A list of tensors or sizes (torch)."""

    name = "top.List"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class CustomOp(NamedOp):
    """An op defined by the user, known by `name`, with parameters of its own."""

    name = "top.Custom"

    inputs = var_operand_def(TENSOR)
    outputs = var_result_def(TENSOR)
    name_ = attr_def(TEXT, attr_name="name")
    params = attr_def(DICT_ARRAY)
