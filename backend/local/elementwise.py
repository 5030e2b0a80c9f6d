"""Element-wise ops on slices: any scratch they need covers a part of the slice at a time."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith
from xdsl_tpu.backend.kernels.elementwise import (
    Step,
    arith_step,
    chain,
    describe,
    operand_order,
    run_chain,
)
from xdsl_tpu.backend.kernels.mapping import ElementWise, Types, Work, write_table
from xdsl_tpu.backend.local.context import Form, LocalContext, LocalValue
from xdsl_tpu.backend.local.parts import Part, parts
from xdsl_tpu.backend.tensor import (
    LocalTensor,
    Shape4,
    align,
    aligned,
    aligned_bytes,
)
from xdsl_tpu.dialects.errors import DoesNotFit

SCRATCH_BYTES = 16384
"""Scratch per lane from which on larger parts of a slice save nothing worth having."""


def element_wise(context: LocalContext) -> None:
    """Emit an element-wise op on a slice."""
    op, out = context.op, context.out
    values = [value for value in context.operands if value is not None]
    order = operand_order(op, [_elements(value) for value in values])
    values = [values[i] for i in order]
    types = Types(out.dtype, tuple(value.dtype for value in values))
    work = describe(op, types)
    operands = [aligned_operand(context, value) for value in values]
    run(context, work, out.tensor, operands)


def _elements(value: LocalValue) -> int:
    return value.full.n * value.full.c * value.full.d * value.full.h * value.full.w


def aligned_operand(context: LocalContext, value: LocalValue) -> LocalTensor:
    """The part of an operand that belongs to the result's slice; 1 long where it is stretched."""
    out, chip = context.out, context.chip
    wanted = out.tensor.shape
    if value.form is Form.ROW:
        value = replace(value, tensor=value.row(wanted[1], chip))
    elif value.form is Form.PLAIN and value.full.c == 1 and wanted[1] > 1:
        value = _in_all_lanes(context, value, wanted[1])
    if value.full.c == 1:
        wanted = (wanted[0], value.tensor.shape[1], *wanted[2:])
    if value.form is Form.MERGED or value.start == out.start:
        sizes = zip(value.tensor.shape, wanted, strict=True)
        if all(own in (1, size) for own, size in sizes):
            return value.tensor
    start = tuple(
        0 if whole == 1 else a - b
        for a, b, whole in zip(out.start, value.start, value.full, strict=True)
    )
    shape = tuple(
        1 if own == 1 else size for own, size in zip(value.tensor.shape, wanted, strict=True)
    )
    n, c, d, h, w = start
    if min(start) < 0 or d or value.depth > 1:
        raise DoesNotFit(f"an operand's slice begins at {value.start}, the result's at {out.start}")
    return value.tensor.window((n, c, h, w), (shape[0], shape[1], shape[2], shape[3]), chip)


def _in_all_lanes(context: LocalContext, value: LocalValue, channels: int) -> LocalValue:
    """A value of one channel, which lies in one lane, copied to the lanes of `channels`."""
    n, _, h, w = value.tensor.shape
    shape = (n, min(channels, context.chip.lanes), h, w)
    copies = context.scratch.aligned(shape, value.dtype)
    context.emitter.lane_broadcast(copies, value.tensor)
    return replace(value, tensor=copies)


def run(
    context: LocalContext,
    work: ElementWise,
    out: LocalTensor,
    operands: Sequence[LocalTensor],
    whole: Shape4 | None = None,
    line: int | None = None,
) -> None:
    """Compute `out` from its operands part by part, as large as the scratch memory allows.

    `whole` is the shape of the tile that scratch tensors refer to, if it is not that of `out`;
    then parts are ranges of images and lane groups only, or of whole lines of `line` elements.
    Without enough scratch for a chain of single instructions the chain works in place.
    """
    scratch, chip = context.scratch, context.chip
    tile = whole or out.shape
    with scratch.temporary():
        tables = _tables(context, work)

        def fits(shape: Shape4) -> bool:
            return scratch.holds(
                [aligned_bytes(chip, kind.shape(shape), kind.dtype) for kind in work.scratch]
            )

        cuttable = all(_is_cuttable(t, out, chip, bool(whole)) for t in (out, *operands))
        unit = None if whole and line is None else _unit(out, operands, chip)

        def divided() -> Sequence[Part | None] | None:
            if fits(tile):
                return [None]
            return parts(tile, fits, chip, unit, line or 1) if cuttable else None

        found = divided()
        if found is None and _is_chain(work, out):
            work.compute(context.emitter, Work(out, operands, (out,)))
            return
        for part in found or scratch.enough(divided, "for its smallest parts"):
            with scratch.temporary():
                _part(context, work, part, out, operands, tables, tile)


def finish(
    context: LocalContext,
    out: LocalTensor,
    steps: Sequence[Step],
    produce: Callable[[LocalTensor], None],
    bias: LocalTensor | None = None,
) -> None:
    """Have `produce` write its result, add a bias and do the steps with it, none in place.

    Without scratch memory for that they work in place, which takes twice the cycles, or what
    follows the bias part by part.
    """
    emitter, scratch, chip = context.emitter, context.scratch, context.chip
    added = [] if bias is None else [arith_step(Arith.ADD, bias)]
    with scratch.temporary():
        every = [*added, *steps]
        address = scratch.find(aligned_bytes(chip, out.shape, out.dtype)) if every else None
        if address is not None or not every:
            spare = out if address is None else aligned(chip, address, out.shape, out.dtype)
            first = spare if len(every) % 2 else out
            produce(first)
            run_chain(emitter, every, Work(out, (), (spare,)), first)
            return
    produce(out)
    for step in added:
        step(emitter, out, out)
    if steps:
        run(context, chain(steps, Types(out.dtype, (out.dtype,))), out, [out])


def _tables(context: LocalContext, work: ElementWise) -> list[LocalTensor]:
    tables: list[LocalTensor] = []
    for values in work.tables:
        shape = (1, context.chip.lanes, 1, len(values))
        table = context.scratch.compact(shape, work.table_dtype)
        write_table(context.emitter, table, values)
        tables.append(table)
    return tables


def _part(
    context: LocalContext,
    work: ElementWise,
    part: Part | None,
    out: LocalTensor,
    operands: Sequence[LocalTensor],
    tables: Sequence[LocalTensor],
    tile: Shape4,
) -> None:
    chip = context.chip
    if part is not None:
        tile = part.shape(tile)
        out = part.of(out, chip)
        operands = [part.of(operand, chip) for operand in operands]
    tensors = [context.scratch.aligned(kind.shape(tile), kind.dtype) for kind in work.scratch]
    work.compute(context.emitter, Work(out, operands, tensors, tables))


def _is_chain(work: ElementWise, out: LocalTensor) -> bool:
    """Whether the one scratch tensor may be the result itself, at twice the cycles."""
    return [kind.dtype for kind in work.scratch] == [out.dtype] and not work.tables


def _is_cuttable(tensor: LocalTensor, out: LocalTensor, chip: Chip, lines: bool) -> bool:
    """Whether parts of the result have a counterpart that is EU-aligned: no window, and
    stretched along images and lanes at most (or anyhow, where only those are cut)."""
    usual = align(tensor.shape[2] * tensor.shape[3], chip.eu(tensor.dtype.bytes))
    dense = tensor.strides[3] == 1 and tensor.strides[2] == tensor.shape[3]
    return dense and tensor.strides[1] == usual and (lines or tensor.shape[2:] == out.shape[2:])


def _unit(out: LocalTensor, operands: Sequence[LocalTensor], chip: Chip) -> int:
    """Elements in the smallest range that is EU-aligned in every type involved."""
    return chip.eu(min(tensor.dtype.bytes for tensor in (out, *operands)))
