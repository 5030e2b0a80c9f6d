"""Recurrent networks.

Sequences are length, batch, size; with `batch_first` batch, length, size. Gate weights are
those of the ONNX operators LSTM and GRU, with one more leading dimension for the directions.
"""

from xdsl.ir import SSAValue
from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp, is_none
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import scan_states
from xdsl_tpu.dialects.top.abstract import ShapedOp


@irdl_op_definition
class LSTMOp(ShapedOp):
    """Long short-term memory, one direction or two.

    | value | shape |
    |---|---|
    | filter | directions, 4 * hidden, input size |
    | recurrence | directions, 4 * hidden, hidden |
    | Y | length, directions, batch, hidden (batch, length, directions, hidden) |
    | Y_h, Y_c | directions, batch, hidden (batch, directions, hidden) |

    In brackets with `batch_first`. Results nobody uses are none.
    """

    name = "top.LSTM"

    input = operand_def(TENSOR)
    filter = operand_def(TENSOR)
    recurrence = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    initial_h = operand_def(TENSOR_OR_NONE)
    initial_c = operand_def(TENSOR_OR_NONE)
    cont = operand_def(TENSOR_OR_NONE)
    Y = result_def(TENSOR_OR_NONE)
    Y_h = result_def(TENSOR_OR_NONE)
    Y_c = result_def(TENSOR_OR_NONE)
    hidden_size = attr_def(I64_INT)
    bidirectional = attr_def(BOOL)
    batch_first = default_attr_def(BOOL, False)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        return _recurrent_shapes(self, self.filter, gates=4)


@irdl_op_definition
class GRUOp(ShapedOp):
    """Gated recurrent unit, one direction or two; shapes as `LSTMOp` with three gates."""

    name = "top.GRU"

    input = operand_def(TENSOR)
    filter = operand_def(TENSOR)
    recurrence = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    initial_h = operand_def(TENSOR_OR_NONE)
    Y = result_def(TENSOR_OR_NONE)
    Y_h = result_def(TENSOR_OR_NONE)
    hidden_size = attr_def(I64_INT)
    bidirectional = attr_def(BOOL)
    linear_before_reset = default_attr_def(BOOL, True)
    batch_first = default_attr_def(BOOL, False)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        return _recurrent_shapes(self, self.filter, gates=3)


def _recurrent_shapes(op: LSTMOp | GRUOp, filter: SSAValue, gates: int) -> tuple[Shape, ...]:
    """The sequence Y, then the final states, () for those that are none."""
    shape, hidden = op.shape_of(op.input, 3), op.hidden_size.value.data
    directions = 2 if op.bidirectional.value.data else 1
    expected = (directions, gates * hidden, shape[2])
    if op.shape_of(filter) != expected:
        raise ShapeError(f"filter is {dims(op.shape_of(filter))}, needed is {dims(expected)}")
    first, second, _ = shape
    sequence, state = (first, directions, second, hidden), (directions, second, hidden)
    if op.batch_first.value.data:
        sequence, state = (first, second, directions, hidden), (first, directions, hidden)
    shapes = (sequence, *(state,) * (len(op.results) - 1))
    results = zip(op.results, shapes, strict=True)
    return tuple(() if is_none(result) else shape for result, shape in results)


@irdl_op_definition
class LinearScanOp(ShapedOp):
    """A linear recurrence: the states h_t = a_t * h_(t-1) + b_t of all steps t along `axis`.

    | value | shape |
    |---|---|
    | a, b, output | any, the same |
    | initial | the same with 1 along `axis`: the state before the first step |

    Without `initial` the first state is b_0, whatever a_0 is.
    """

    name = "top.LinearScan"

    a = operand_def(TENSOR)
    b = operand_def(TENSOR)
    initial = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    axis = attr_def(I64_INT)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        initial = None if is_none(self.initial) else self.shape_of(self.initial)
        shapes = self.shape_of(self.a), self.shape_of(self.b)
        return (scan_states(*shapes, initial, self.axis.value.data),)


@irdl_op_definition
class SelectiveScanOp(NamedOp):
    """The recurrence of a Mamba block over a sequence."""

    name = "top.SelectiveScan"

    Cs = operand_def(TENSOR)
    deltaA = operand_def(TENSOR)
    deltaB_u = operand_def(TENSOR)
    us = operand_def(TENSOR)
    Ds = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)

    traits = traits_def(Pure())
