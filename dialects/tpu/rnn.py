"""Recurrent networks."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RANKED, is_none
from xdsl_tpu.dialects.interfaces.local_gen import Axis, GroupType, Loop, axis_number
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeInference, dims, known_shape
from xdsl_tpu.dialects.interfaces.shape_rules import scan_states
from xdsl_tpu.dialects.tpu.local import AlikeEverywhere, TakesMargins
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, TpuOp


@irdl_op_definition
class GRUOp(TpuOp):
    """A layer of gated recurrent units."""

    name = "tpu.GRU"

    input = operand_def(RANKED)
    filter = operand_def(RANKED_OR_NONE)
    recurrence = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    initial_h = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    sigmoid_table = operand_def(RANKED_OR_NONE)
    sigmoid_slope_table = operand_def(RANKED_OR_NONE)
    tanh_table = operand_def(RANKED_OR_NONE)
    tanh_slope_table = operand_def(RANKED_OR_NONE)
    hidden_size = attr_def(I64_INT)
    bidirectional = attr_def(BOOL)
    linear_before_reset = default_attr_def(BOOL, True)
    batch_first = default_attr_def(BOOL, False)
    Y = result_def(RANKED_OR_NONE)
    Y_h = result_def(RANKED_OR_NONE)

    traits = traits_def(Pure())


@irdl_op_definition
class LSTMOp(TpuOp):
    """A layer of long short-term memory cells."""

    name = "tpu.LSTM"

    input = operand_def(RANKED)
    filter = operand_def(RANKED_OR_NONE)
    recurrence = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    initial_h = operand_def(RANKED_OR_NONE)
    initial_c = operand_def(RANKED_OR_NONE)
    cont = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    sigmoid_table = operand_def(RANKED_OR_NONE)
    sigmoid_slope_table = operand_def(RANKED_OR_NONE)
    tanh_table = operand_def(RANKED_OR_NONE)
    tanh_slope_table = operand_def(RANKED_OR_NONE)
    hidden_size = attr_def(I64_INT)
    bidirectional = attr_def(BOOL)
    batch_first = default_attr_def(BOOL, False)
    Y = result_def(RANKED_OR_NONE)
    Y_h = result_def(RANKED_OR_NONE)
    Y_c = result_def(RANKED_OR_NONE)

    traits = traits_def(Pure())


@irdl_op_definition
class LinearScanOp(AlikeEverywhere, TakesMargins, ShapeInference, LocalOp):
    """The states h_t = a_t * h_(t-1) + b_t of all steps t along `axis`.

    `a`, `b` and the result have one shape, `initial` has 1 along `axis`; without it the first
    state is b_0. Each product and each sum is rounded to the element type.
    """

    name = "tpu.LinearScan"

    a = operand_def(RANKED)
    b = operand_def(RANKED)
    initial = operand_def(RANKED_OR_NONE)
    axis = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        initial = None if is_none(self.initial) else self.shape_of(self.initial)
        shapes = self.shape_of(self.a), self.shape_of(self.b)
        return (scan_states(*shapes, initial, self.axis.value.data),)

    def local_support(self, kind: GroupType) -> str | None:
        """Steps lie in one lane: along n, h or w."""
        axis, shape = self.axis.value.data, known_shape(self.output.type) or ()
        if axis in (0, 2) or axis == len(shape) - 1 == 3:
            return None
        return f"its steps along axis {axis} of {dims(shape)} are not those of n, h or w"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis_number(axis, kind) != self.axis.value.data

    def goes_on_along(self) -> Axis:
        axes: tuple[Axis, ...] = ("n", "c", "h", "w")
        return axes[self.axis.value.data]

    def cut_alone(self) -> tuple[Loop, ...]:
        return (*super().cut_alone(), self.goes_on_along())

    def split_weights(self) -> tuple[int, ...]:
        return (0, 1, 2)
