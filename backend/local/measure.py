"""What a local kernel takes for a slice: its cycles and its scratch memory, by running it dry."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.lanes import MERGE_COLUMNS, MERGE_ROWS
from xdsl_tpu.backend.kernels.support import dtype_of
from xdsl_tpu.backend.local.context import Form, LocalContext, LocalKernel, LocalValue, Scratch
from xdsl_tpu.backend.local.forms import row_form
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.local.table import LOCAL_KERNELS
from xdsl_tpu.backend.local.views import merged_views
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import DType, Shape4, aligned, compact
from xdsl_tpu.backend.timing import tiu_cycles
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import RankedTensor
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, LocalGen, Ncdhw

USUAL_SCRATCH = 16384
"""Scratch per lane that is offered first; kernels that can do with less take less."""

_VIEWS = ("tpu.Reshape", "tpu.Squeeze", "tpu.Unsqueeze")

Sizes = Callable[[SSAValue], Ncdhw]
"""The sizes of an operand's or result's slice."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Scratch bytes per lane and TIU cycles of an op on one slice."""

    scratch: int
    cycles: int


def local_kernel(op: Operation) -> LocalKernel:
    """The kernel of an op that has one."""
    module_name, function_name = LOCAL_KERNELS[op.name].split(":")
    module = import_module(f"xdsl_tpu.backend.local.{module_name}")
    return cast(LocalKernel, getattr(module, function_name))


def measure(op: Operation, sizes: Sizes, kind: GroupType, chip: Chip) -> Measured:
    """Run the kernel of an op on the first slice of the given sizes, with as little scratch memory
    as it can work in, from `USUAL_SCRATCH` upwards.

    Raises TpuError when it cannot work on such a slice at all. The op is not changed and needs no
    addresses.
    """
    offered = USUAL_SCRATCH
    base = chip.local_bytes // 2
    while True:
        scratch = Scratch(chip, [(base, base + min(offered, chip.local_bytes))])
        program = Program(name="", chip=chip.name, quantize="")
        context = _context(op, sizes, kind, Emitter(chip, program), scratch)
        try:
            local_kernel(op)(context)
        except TpuError:
            if offered >= chip.local_bytes:
                raise
            offered *= 2
            continue
        peak = max((end for _, end in scratch.taken), default=base)
        return Measured(peak - base, sum(tiu_cycles(command, chip) for command in program.tiu))


def _context(
    op: Operation, sizes: Sizes, kind: GroupType, emitter: Emitter, scratch: Scratch
) -> LocalContext:
    """The op on slices that begin at 0, at addresses that only differ; views share theirs."""
    chip = emitter.chip
    operands: list[LocalValue | None] = []
    for index, operand in enumerate(op.operands):
        if isa(operand.type, RankedTensor):
            address = 0 if op.name in _VIEWS else chip.local_bytes // 4 + chip.eu_bytes * index
            operands.append(_operand(op, index, sizes, kind, chip, address))
        else:
            operands.append(None)
    result = op.results[0]
    out = _value(result, sizes(result), of_value(result, kind, chip.lanes), chip, 0)
    return LocalContext(chip, emitter, op, tuple(operands), out, scratch, kind)


def _operand(
    op: Operation, index: int, sizes: Sizes, kind: GroupType, chip: Chip, address: int
) -> LocalValue:
    value = op.operands[index]
    full, size = of_value(value, kind, chip.lanes), sizes(value)
    row = row_form(op, index, kind, chip.lanes)
    if row is not None and row.parameter:
        elements = full.n * full.c * full.d * full.h * full.w
        full = size = Ncdhw(1, 1, 1, 1, elements)
    if row is not None:
        shape: Shape4 = (size.n * size.d, chip.lanes, size.h, size.w)
        tensor = aligned(
            chip, address, shape, dtype_of(cast(RankedTensor, value.type).element_type)
        )
        return LocalValue(tensor, Ncdhw(0, 0, 0, 0, 0), full, Form.ROW)
    if isinstance(op, tpu.Conv2DOp) and index == 0:
        merge = op.use_3ic_optimize.value.data
        flags = (bool(merge & MERGE_ROWS), bool(merge & MERGE_COLUMNS))
        if any(flags):
            start = Ncdhw(0, 0, 0, 0, 0)
            rows, columns = merged_views(op, start, sizes(op.output), flags, chip.lanes)
            lanes = full.c * rows.taps * columns.taps
            size = Ncdhw(size.n, lanes, 1, rows.count, columns.count)
            return _value(value, size, full, chip, address, Form.MERGED)
    return _value(value, size, full, chip, address, dense=_is_dense(op, index))


def _is_dense(op: Operation, index: int) -> bool:
    """Whether an operand is a weight that lies without alignment."""
    owner = op.operands[index].owner
    if not isinstance(owner, top.WeightOp) or owner.allow_split is not None:
        return False
    return isinstance(op, LocalGen) and index in op.compact_weights()


def _value(
    value: SSAValue,
    size: Ncdhw,
    full: Ncdhw,
    chip: Chip,
    address: int,
    form: Form = Form.PLAIN,
    dense: bool = False,
) -> LocalValue:
    shape: Shape4 = (size.n * size.d, size.c, size.h, size.w)
    tensor = (compact if dense else aligned)(chip, address, shape, _dtype(value))
    return LocalValue(tensor, Ncdhw(0, 0, 0, 0, 0), full, form, depth=size.d)


def _dtype(value: SSAValue) -> DType:
    return dtype_of(cast(RankedTensor, value.type).element_type)
