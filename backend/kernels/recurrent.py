"""`tpu.LSTM` and `tpu.GRU`: all steps of a layer in one kernel.

The products of all inputs with their weights are one matrix product, whose result stays in local
memory. At each step the state is multiplied by the recurrent weights, which stay there too; gates
are packed densely, and the new state is written where the next product reads it. Nothing goes
through DDR but inputs, weights and results.
"""

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.recurrent_cells import EXACT, SHORT, gru, lstm
from xdsl_tpu.backend.kernels.recurrent_plan import Layer, Plan, Sizes, plans
from xdsl_tpu.backend.kernels.recurrent_steps import Steps
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, first_that_fits, where
from xdsl_tpu.backend.kernels.tiling import cut
from xdsl_tpu.backend.tensor import DType, ceil_div
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.precision import Precision, precision_of


def recurrent(context: KernelContext, op: Operation) -> None:
    """x [steps, batch, inputs] through a layer of one direction or two.

    Raises NoKernel where the state is reset from outside, DoesNotFit where one step of one sequence
    does not fit local memory.
    """
    layer = describe(context, op)
    steps = choose(context.emitter, layer)
    if steps is None:
        raise DoesNotFit(f"{where(op)}: one step of one sequence does not fit local memory")
    steps.prepare()
    for batch in cut(layer.sizes.batch, steps.plan.batch):
        for way in range(layer.sizes.directions):
            steps.run(way, batch)


def choose(emitter: Emitter, layer: Layer) -> Steps | None:
    """The layer in the first way to cut it that fits; None when none does."""

    def build(memory: LocalMemory, plan: Plan) -> Steps:
        return Steps(emitter, layer, plan, memory)

    return first_that_fits(plans(layer.sizes, emitter.chip), build, emitter.chip)


def describe(context: KernelContext, op: Operation) -> Layer:
    """The op's operands."""
    assert isinstance(op, tpu.LSTMOp | tpu.GRUOp)
    if isinstance(op, tpu.LSTMOp) and not is_none(op.cont):
        raise NoKernel(f"{where(op)}: `cont` is not supported: leave it out")
    is_lstm = isinstance(op, tpu.LSTMOp)
    batch_first, units = bool(op.batch_first.value.data), op.hidden_size.value.data
    linear = isinstance(op, tpu.GRUOp) and bool(op.linear_before_reset.value.data)
    x, bias = context.value(op.input), context.optional(op.bias)
    if bias is not None and bias.dtype is not DType.F32:
        raise NoKernel(f"{where(op)}: its bias is {bias.dtype.label}: it must be f32")
    steps, batch, inputs = x.shape
    if batch_first:
        steps, batch = batch, steps
    per_gate = ceil_div(units, context.chip.lanes)
    gates = 4 if is_lstm else 3
    bias_slots = 0 if bias is None else (gates + (0 if is_lstm else 1)) * per_gate
    ways = 2 if op.bidirectional.value.data else 1
    sizes = Sizes(steps, batch, inputs, units, gates, ways, x.dtype, bias_slots)
    initial = (op.initial_h, op.initial_c) if isinstance(op, tpu.LSTMOp) else (op.initial_h,)
    final = (op.Y_h, op.Y_c) if isinstance(op, tpu.LSTMOp) else (op.Y_h,)
    return Layer(
        sizes,
        lstm if is_lstm else gru,
        SHORT if x.dtype is not DType.F32 and precision_of(op) is Precision.FAST else EXACT,
        batch_first,
        linear,
        x,
        context.value(op.filter),
        context.value(op.recurrence),
        bias,
        [context.optional(value) for value in initial],
        context.optional(op.Y),
        [context.optional(value) for value in final],
    )
