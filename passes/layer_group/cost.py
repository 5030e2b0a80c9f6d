"""What a group costs, before its commands exist.

TIU cycles come from the cycle model, applied to the command that does an op's main work on the
whole tensor; ops that are chains of element-wise commands count as that many passes. Transfers
count at the rates of whole rows.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import FORMS, Command
from xdsl_tpu.backend.timing import tiu_cycles
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.passes.layer_group.lmem_size import element_bits
from xdsl_tpu.passes.layer_group.shapes import extent
from xdsl_tpu.passes.tensors import is_weight, shape_of, size_in_bytes

_PASSES = {"tpu.Active": 21, "tpu.LayerNorm": 12, "tpu.Softmax": 24, "tpu.Reduce": 3}
"""Element-wise commands per element of ops that are chains of them."""

_PRECISION = {8: 0, 16: 1, 32: 2}


@dataclass(frozen=True, slots=True)
class Cost:
    """Cycles of a range of ops: computing, moving activations, loading weights."""

    tiu: float
    activations: float
    weights: float


@dataclass(frozen=True, slots=True)
class Clock:
    """When each engine is done with everything so far."""

    tiu: float = 0.0
    gdma: float = 0.0

    @property
    def end(self) -> float:
        """When both are done."""
        return max(self.tiu, self.gdma)

    def after_straight(self, cost: Cost) -> "Clock":
        """A group whose weights are loaded while earlier groups compute.

        Its inputs wait for the group before, which stores them; its last weights arrive before
        its last op.
        """
        inputs = max(self.gdma, self.tiu) + cost.activations
        gdma = max(self.gdma + cost.weights + cost.activations, inputs)
        return Clock(max(self.tiu + cost.activations + cost.tiu, gdma), gdma)

    def after_alone(self, cost: Cost) -> "Clock":
        """A group or op that has local memory to itself: nothing of it is loaded ahead."""
        moved = cost.activations + cost.weights
        end = self.end + max(cost.tiu, moved)
        return Clock(end, end)


class CostTable:
    """Costs of ranges of one run of ops, computed incrementally."""

    def __init__(self, ops: Sequence[Operation], chip: Chip) -> None:
        self.ops, self.chip = ops, chip
        position = {op: index for index, op in enumerate(ops)}
        self.tiu = [op_cycles(op, chip) for op in ops]
        self.last_use: dict[SSAValue, int] = {}
        for op in ops:
            for result in op.results:
                uses = [position.get(use.operation, len(ops)) for use in result.uses]
                self.last_use[result] = max(uses, default=len(ops))

    def of(self, start: int, end: int) -> Cost:
        """The cost of ops[start:end] as one group."""
        return self.ending_at(end, start)[start]

    def ending_at(self, end: int, first: int) -> dict[int, Cost]:
        """The costs of all ranges from `first` or later to `end`."""
        read, write = self.chip.load_bytes_per_cycle, self.chip.store_bytes_per_cycle
        needed: dict[SSAValue, int] = {}
        tiu = stored = loaded = weights = 0.0
        found: dict[int, Cost] = {}
        for start in range(end - 1, first - 1, -1):
            op = self.ops[start]
            tiu += self.tiu[start]
            for result in op.results:
                loaded -= needed.pop(result, 0)
                if not is_none(result) and self.last_use[result] >= end:
                    stored += size_in_bytes(result)
            for operand in op.operands:
                if is_none(operand) or operand in needed:
                    continue
                needed[operand] = size_in_bytes(operand)
                if is_weight(operand):
                    weights += needed[operand]
                else:
                    loaded += needed[operand]
            found[start] = Cost(tiu, loaded / read + stored / write, weights / read)
        return found


def op_cycles(op: Operation, chip: Chip) -> float:
    """TIU cycles of an op on its whole tensor."""
    special = _MAIN_COMMAND.get(op.name)
    if special is not None:
        return tiu_cycles(special(op), chip)
    result = op.results[0]
    sizes, bits = extent(result, GroupType.NORMAL, chip), element_bits(result)
    fields = {"res0_n": sizes.n * sizes.d, "res0_c": sizes.c, "res0_h": sizes.h, "res0_w": sizes.w}
    precision = _PRECISION.get(bits, 1)
    fields |= {"res0_prec": precision, "opd0_prec": precision, "tsk_eu_typ": 2, "tsk_opd_num": 2}
    fields |= {"opd0_addr": 64, "opd1_addr": 128, "opd1_prec": precision}
    return _PASSES.get(op.name, 1) * tiu_cycles(Command(FORMS["sAR"], fields), chip)


def _conv(op: Operation) -> Command:
    assert isinstance(op, tpu.Conv2DOp)
    n, oc, oh, ow = (*shape_of(op.output), 1, 1)[:4]
    ic = shape_of(op.input)[1]
    kh, kw = [*ints(op.kernel_shape), 1][:2]
    strides = [*ints(op.strides), 1][:2]
    precision = _PRECISION[element_bits(op.output)]
    fields = {"res0_n": n, "res0_c": oc, "res0_h": oh, "res0_w": ow, "res0_prec": precision}
    fields |= {"opd0_prec": precision, "opd1_h": kh, "opd1_w": kw}
    fields |= {"res_op_y_str": strides[0], "res_op_x_str": strides[1]}
    group = op.group.value.data
    if group == ic and group > 1:
        return Command(FORMS["sPorD"], fields)
    merged = op.use_3ic_optimize.value.data & 3
    channels = ic * {0: 1, 1: kh, 2: kw, 3: kh * kw}[merged] // group
    if merged & 1:
        fields["opd1_h"] = 1
    if merged & 2:
        fields["opd1_w"] = 1
    return Command(FORMS["sCONV"], fields | {"opd0_c": channels})


def _matmul(op: Operation) -> Command:
    """All products of a batch as one command with as many rows; f32 goes through CONV."""
    assert isinstance(op, tpu.MatMulOp)
    out, left = shape_of(op.output), shape_of(op.input)
    *batches, rows, columns = (1, 1, *out)
    batch = math.prod(batches)
    depth = left[len(left) - 2] if bool(op.left_transpose) else left[len(left) - 1]
    precision = _PRECISION[element_bits(op.output)]
    if precision == 2:
        fields = {"res0_n": batch, "res0_c": rows, "res0_h": 1, "res0_w": columns}
        fields |= {"opd0_c": depth, "opd1_h": 1, "opd1_w": 1, "opd0_prec": 2}
        return Command(FORMS["sCONV"], fields)
    fields = {"res0_c": batch * rows, "res0_w": columns, "opd1_c": depth, "opd0_prec": precision}
    return Command(FORMS["sMM2"], fields | {"tsk_eu_typ": 4})


def _pool(op: Operation) -> Command:
    assert isinstance(op, tpu.Pool2DOp)
    n, c, h, w = shape_of(op.output)
    kh, kw = ints(op.kernel_shape)
    sy, sx = ints(op.strides)
    precision = _PRECISION[element_bits(op.output)]
    fields = {"res0_n": n, "res0_c": c, "res0_h": h, "res0_w": w, "res0_prec": precision}
    fields |= {"opd0_prec": precision, "opd1_h": kh, "opd1_w": kw}
    fields |= {"res_op_y_str": sy, "res_op_x_str": sx, "tsk_eu_typ": 4}
    return Command(FORMS["sPorD"], fields)


_MAIN_COMMAND: dict[str, Callable[[Operation], Command]] = {
    "tpu.Conv2D": _conv,
    "tpu.MatMul": _matmul,
    "tpu.Pool2D": _pool,
}
