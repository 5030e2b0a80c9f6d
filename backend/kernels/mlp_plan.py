"""Feed-forward blocks: what `tpu.Mlp` says, and how rows and matrices of one are cut."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.packed_stream import Cut
from xdsl_tpu.backend.kernels.packed_weight import PackedWeight, float_weight, packed_weight
from xdsl_tpu.backend.kernels.sequences.table import SEQUENCES
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.kernels.tiling import chunks_of
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    ceil_div,
    contiguous,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.precision import precision_of

FACTOR_BYTES = 2048
"""Scales and zero points of a lane that are loaded together."""

MOST_ROUNDS = 8
"""Outputs a lane of the largest tile."""

STORED = 256
"""Columns of the result that are stored together, at least: a full row of DDR and more."""


@dataclass(frozen=True, slots=True)
class Linear:
    """A matrix, and the row (1, 1, 1, N) that is added to its products."""

    weight: PackedWeight
    bias: GlobalTensor | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows (1, M, 1, K) and (1, M, 1, N) in DDR, and such that are added to the results, the
    matrices, and how the activation is computed. Without `up` nothing is multiplied with it."""

    x: GlobalTensor
    out: GlobalTensor
    residual: GlobalTensor | None
    gate: Linear
    up: Linear | None
    down: Linear
    active: Unary

    @property
    def rows(self) -> int:
        """M."""
        return self.x.shape[1]

    @property
    def inner(self) -> int:
        """Columns between the products."""
        return self.gate.weight.outputs

    @property
    def first(self) -> tuple[Linear, ...]:
        """The matrices in front of the activation and of what it is multiplied with."""
        return (self.gate,) if self.up is None else (self.gate, self.up)


def describe(context: KernelContext, op: "tpu.MlpOp") -> Problem:
    """The op's operands as matrices. Raises NoKernel for what `mlp` says."""
    x, out = context.value(op.input), context.value(op.output)
    flags = (op.w_transpose_gate, op.w_transpose_up, op.w_transpose_down)
    if not is_none(op.expert_id) or not all(flag.value.data for flag in flags):
        raise NoKernel(f"{where(op)}: only matrices [N, K], without experts")
    mode = op.activation.data.value
    active = SEQUENCES[precision_of(op)].get(mode)
    if active is None or out.dtype is not DType.F16:
        raise NoKernel(f"{where(op)}: {mode} is computed in f16 here")
    depth, outputs = x.shape[-1], out.shape[-1]
    rows = x.elements // depth
    shape = (1, rows, 1, outputs)
    gate = _linear(context, op, _Part(op, "gate"), depth, None)
    up = None
    if not is_none(op.weight_up):
        up = _linear(context, op, _Part(op, "up"), depth, gate.weight.outputs)
    return Problem(
        contiguous(x.address, (1, rows, 1, depth), x.dtype),
        contiguous(out.address, shape, out.dtype),
        None if op.residual is None else context.value(op.residual).as4(shape),
        gate,
        up,
        _linear(context, op, _Part(op, "down"), gate.weight.outputs, outputs),
        active,
    )


class _Part:
    """The operands of one product."""

    def __init__(self, op: "tpu.MlpOp", role: str) -> None:
        def operand(kind: str) -> SSAValue:
            return getattr(op, f"{kind}_{role}")

        self.packed = operand("weight"), operand("scale"), operand("zp")
        self.bias = operand("bias")


def _linear(
    context: KernelContext, op: "tpu.MlpOp", part: _Part, depth: int, outputs: int | None
) -> Linear:
    kind = context.value(op.output).dtype
    if op.quantized.value.data:
        form = op.weight_bits.value.data, op.q_group_size.value.data, kind
        weight = packed_weight(context, part.packed, depth, outputs, *form)
    else:
        weight = float_weight(context, part.packed[0], depth, kind)
        if outputs not in (None, weight.outputs):
            raise NoKernel(f"{where(op)}: {weight.outputs} rows of a matrix for {outputs}")
    bias = context.optional(part.bias)
    return Linear(weight, None if bias is None else bias.as4((1, 1, 1, weight.outputs)))


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows of a chunk, and how the matrices are cut."""

    rows: int
    inner: Cut
    down: Cut

    def stored(self, lanes: int) -> int:
        """Columns of the result that are stored together."""
        step = self.down.rounds * lanes
        return ceil_div(STORED, step) * step


def plans(problem: Problem, chip: Chip) -> Iterator[Plan]:
    """The fewest chunks of rows, then the largest tiles, first."""
    down = Cut.of(problem.down.weight, 1, FACTOR_BYTES)
    for rows in chunks_of(problem.rows, chip.lanes):
        for rounds in range(MOST_ROUNDS, 0, -1):
            yield Plan(rows, Cut.of(problem.gate.weight, rounds, FACTOR_BYTES), down)
