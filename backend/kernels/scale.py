"""tpu.Scale: a factor and a term for every channel."""

from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.clamp import Clamp
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Work, element_wise
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext
from xdsl_tpu.backend.tensor import LocalTensor
from xdsl_tpu.dialects import tpu


def scale(context: KernelContext, op: Operation) -> None:
    """Emit tpu.Scale of N, C, .. by C factors and C terms, with its relu."""
    assert isinstance(op, tpu.ScaleOp)
    x, out = context.value(op.input), context.value(op.output)
    rank = len(x.shape)

    def per_channel(value: SSAValue) -> DdrValue:
        found = context.value(value)
        return replace(found, shape=(found.elements, *(1 for _ in range(rank - 2))))

    operands = [x, per_channel(op.scale), per_channel(op.bias)]
    clamp = Clamp.of(op.do_relu, op.relu_limit)

    def compute(e: Emitter, work: Work) -> None:
        value, factor, term = work.operands
        product, room = work.scratch

        def produce(target: LocalTensor) -> None:
            e.arith(Arith.MUL, product, value, factor)
            e.arith(Arith.ADD, target, product, term)

        clamp.apply(e, work.out, room, produce)

    element_wise(context, out, operands, ElementWise(compute, (Scratch(out.dtype),) * 2))
