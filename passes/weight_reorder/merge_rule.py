"""Which few-channel filters can have kernel rows or columns merged into their channels."""

from xdsl.dialects.builtin import IntegerAttr, i64

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interpreters.layouts import (
    MERGE_HEIGHT,
    MERGE_NOTHING,
    MERGE_WIDTH,
    FilterShape,
    choose_3ic,
)
from xdsl_tpu.dialects.lanes import USUAL_ROW, USUAL_WORDS, Lanes
from xdsl_tpu.dialects.quant import zero_point
from xdsl_tpu.passes.tensors import element_bytes, is_weight, shape_of

BROADCAST_IN_LOCAL_MEMORY = 0x10
KEEP_SHARED_INPUT = 0x20


def is_quantized(op: tpu.Conv2DOp) -> bool:
    """Whether coefficients are still to be merged: an 8-bit filter of its own."""
    return element_bytes(op.filter) == 1 and not bool(op.coeff_merged)


def merges(op: tpu.Conv2DOp, lanes: Lanes) -> tuple[int, ...]:
    """All that may be merged: what `merge_by_rule` says, and columns, too, where they fit."""
    modes = (merge_by_rule(op, lanes, columns) for columns in (False, True))
    return tuple(dict.fromkeys(mode for mode in modes if mode != MERGE_NOTHING))


def merge_by_rule(op: tpu.Conv2DOp, lanes: Lanes, merge_columns: bool) -> int:
    """The low two bits of `use_3ic_optimize` that fill the parallel channels best.

    Rows and columns are both merged only with `merge_columns`, else rows alone: a merged column
    takes a load of the whole image of its own, since its runs stay dense. That often costs more
    than the cube gains by it, because first layers wait for their input. Dilated and grouped
    filters, those over an image with zeros in it or padded by another integer than 0, and those
    that are no weights, are never merged.
    """
    if not is_weight(op.filter) or op.group.value.data != 1:
        return MERGE_NOTHING
    dims = shape_of(op.filter)
    dilated = op.dilations is not None and any(step != 1 for step in ints(op.dilations))
    spread = op.inserts is not None and any(ints(op.inserts))
    padded = bool(zero_point(op.input.type)) and any(ints(op.pads))
    if dilated or spread or padded or len(dims) != 4:
        return MERGE_NOTHING
    shape = FilterShape(*dims)
    mode = choose_3ic(shape.ic, shape.kh, shape.kw, element_bytes(op.filter), lanes)
    columns = bool(mode & MERGE_WIDTH) and not merge_columns
    rows = shape.kh > 1 and shape.ic * shape.kh <= lanes.channels(element_bytes(op.filter))
    return MERGE_HEIGHT if columns and rows else mode


def with_flags(op: tpu.Conv2DOp, mode: int) -> int:
    """The value of `use_3ic_optimize`: what is merged, and who spreads out an input that has
    several users."""
    if mode == MERGE_NOTHING:
        return 0
    shared = not op.input.has_one_use()
    if is_quantized(op):
        return mode | (BROADCAST_IN_LOCAL_MEMORY | KEEP_SHARED_INPUT if shared else 0)
    return mode | BROADCAST_IN_LOCAL_MEMORY | (KEEP_SHARED_INPUT if shared else 0)


def note_row(op: tpu.Conv2DOp, row: int) -> None:
    """Say how many bytes of channels lie side by side in the filter, where that is not usual."""
    if row != USUAL_ROW:
        op.filter_row = IntegerAttr(row, i64)


def note_words(op: tpu.Conv2DOp, words: int) -> None:
    """Say how many words a channel's requantisation has, where that is not usual."""
    if words != USUAL_WORDS:
        op.requant_words = IntegerAttr(words, i64)
