"""tpu.Softmax, in f32: exp(x - max) / sum."""

import math

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.activation import EXP2, LOG2_E, exp2
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Work
from xdsl_tpu.backend.kernels.reduction import plan_reduction, reduce_height
from xdsl_tpu.backend.kernels.rows import FULL, row_layer
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError

F32 = DType.F32


def softmax(context: KernelContext, op: Operation) -> None:
    """tpu.Softmax along any axis; a factor `beta` multiplies the operand first."""
    assert isinstance(op, tpu.SoftmaxOp)
    if bool(op.log.value.data):
        raise TpuError(f"{where(op)}: log softmax has no kernel; compose it from softmax and log")
    out, x = context.value(op.output), context.value(op.input)
    axis = op.axis.value.data % len(x.shape)
    extent = (math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1 :]))
    plan = plan_reduction(extent[1], extent[2], context.chip.eu(F32.bytes))
    stages = plan.scratch(F32)
    scale = op.beta.value.data * LOG2_E

    def compute(e: Emitter, work: Work) -> None:
        a, b, c, *rest = work.scratch
        inner, pools, inverse = rest[:2], rest[2 : 2 + len(stages)], rest[-1]
        source = work.operands[0]
        if source.dtype is not F32:
            e.cast(a, source)
            source = a
        e.arith(Arith.MUL, b, source, scale)
        largest = reduce_height(e, b, plan, pools, maximum=scale >= 0)
        e.arith(Arith.SUB, a, b, largest)
        exp2(e, b, a, Work(work.out, (), (a, c, a, *inner), work.tables), work.tables[0])
        total = reduce_height(e, b, plan, pools)
        e.div(inverse, 1.0, total)
        narrow = work.out.dtype is not F32
        e.arith(Arith.MUL, a if narrow else work.out, b, inverse)
        if narrow:
            e.cast(work.out, a)

    kinds = (F32, F32, F32, DType.I16, DType.I32)
    scratch = (*(Scratch(k) for k in kinds), *stages, Scratch(F32, 1))
    row_layer(context, (out, x), (FULL, FULL), extent, ElementWise(compute, scratch, (EXP2,)))
