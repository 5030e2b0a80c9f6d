"""First ops of a network on bands of an image's rows: which may be cut, and what that makes of
them.

Passes that choose forms of those ops ask here, too, before anything is cut.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, LocalGen, Part, Range
from xdsl_tpu.dialects.interfaces.movement import Along, Moved, Movement, rectangles
from xdsl_tpu.dialects.interfaces.shape import ShapeError, known_shape
from xdsl_tpu.dialects.interfaces.shape_rules import Window
from xdsl_tpu.dialects.names import LAYER, layer_of, name_loc
from xdsl_tpu.dialects.traits import InOutSameShape
from xdsl_tpu.passes.graph import tensor_like
from xdsl_tpu.passes.layer_group.base_groups import why_not_local
from xdsl_tpu.passes.layer_group.window import Taken, WindowCosts, loading
from xdsl_tpu.passes.tensors import is_weight, required_name, shape_of

Windows: TypeAlias = tpu.Conv2DOp | tpu.Pool2DOp
"""Ops whose windows slide over rows."""

ROWS = 2
"""The dimension that is cut."""

BANDS = (2, 4, 8, 16)
"""How many are tried, until more are slower."""

SURE = 0.99
"""What short first bands must bring the estimate down to: where they gained less of it, programs
became slower as often as faster."""

LONGEST = 12
"""Ops of a chain that are cut at most."""


def chains(ops: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Ops one behind the other, from one that reads what nothing computes."""
    for place, op in enumerate(ops):
        if not may_be_cut(op) or not _is_input(op.operands[0]):
            continue
        chain = [op]
        for behind in ops[place + 1 : place + LONGEST]:
            if only_reader(chain[-1].results[0]) is not behind or not may_be_cut(behind):
                break
            chain.append(behind)
        yield chain


def _is_input(value: SSAValue) -> bool:
    """Whether a value is there before anything is computed, and is read once."""
    outside = isinstance(value, BlockArgument) or isinstance(value.owner, top.InputOp)
    return outside and len(list(value.uses)) == 1


def only_reader(value: SSAValue) -> Operation | None:
    """The op that alone reads a value, as its first operand."""
    uses = list(value.uses)
    if len(uses) != 1 or uses[0].index:
        return None
    return uses[0].operation


def may_be_cut(op: Operation) -> bool:
    """Whether rows of an image's result are those of an op of the same kind on fewer rows."""
    if not isinstance(op, LocalGen) or len(op.results) != 1 or why_not_local(op) is not None:
        return False
    shapes = known_shape(op.operands[0].type), known_shape(op.results[0].type)
    if any(shape is None or len(shape) != 4 for shape in shapes):
        return False
    if not op.may_split("h", GroupType.NORMAL):
        return False
    if not isinstance(op, Windows) and not op.has_trait(InOutSameShape):
        return False
    others = [value for value in op.operands[1:] if not is_none(value)]
    return all((is_weight(value) and _is_one_row(value)) or _holds(op) for value in others)


def _holds(op: Operation) -> bool:
    return isinstance(op, Windows)


def _is_one_row(value: SSAValue) -> bool:
    shape = shape_of(value)
    return len(shape) <= ROWS or shape[-2:-1] == (1,)


@dataclass(frozen=True)
class Bands:
    """Rows of the operand of the first op of a chain, and of every result, for each band; the
    windows that slide over rows, of each op."""

    read: list[Range]
    made: list[list[Range]]
    windows: list[Window | None]


def even(chain: Sequence[Operation], count: int) -> list[int]:
    """Where so many bands of the last result begin, as even as can be, and where it ends."""
    rows = shape_of(chain[-1].results[0])[ROWS]
    return [rows * number // count for number in range(count + 1)]


def growing(chain: Sequence[Operation], count: int) -> list[int]:
    """The same with the first band as high as one of so many, and each of the next twice as high
    as the one before, but none higher than an eighth: nothing is computed while the first one is
    loaded, and what bands have in common is computed for both."""
    rows = shape_of(chain[-1].results[0])[ROWS]
    ends, height = [0], max(1, rows // count)
    while height < rows // 8 and ends[-1] + 2 * height < rows:
        ends.append(ends[-1] + height)
        height *= 2
    rest = rows - ends[-1]
    others = -(-rest // height)
    return [*ends, *(rows - rest * (others - number) // others for number in range(1, others + 1))]


def bands_of(chain: Sequence[Operation], ends: Sequence[int]) -> Bands | None:
    """Bands of the last result, from each of `ends` to the next, and what they need of all before;
    None when an op makes no part of its result of some rows alone."""
    made: list[list[Range]] = []
    read: list[Range] = [(start, end - start) for start, end in pairwise(ends)]
    if any(length == 0 for _, length in read):
        return None
    for op in reversed(chain):
        assert isinstance(op, LocalGen)
        made.append(read)
        whole, size = shape_of(op.results[0])[ROWS], shape_of(op.operands[0])[ROWS]
        parts = (Part("h", start, length, whole, GroupType.NORMAL) for start, length in read)
        needed = [op.backward(part, 0, size) for part in parts]
        if any(one is None for one in needed):
            return None
        read = [one for one in needed if one is not None]
    sliding = [op.windows()[0] if isinstance(op, Windows) else None for op in chain]
    return Bands(read, made[::-1], sliding)


class Cut:
    """A chain cut into bands, beside the chain, which nothing else is changed for."""

    def __init__(self, chain: Sequence[Operation], bands: Bands) -> None:
        self.chain, self.bands = chain, bands
        self.reads = [self._rows(number) for number in range(len(bands.read))]
        self.ops = [
            op
            for number, read in enumerate(self.reads)
            for op in band(chain, bands, number, read.results[0])
        ]
        count = len(chain)
        last = chain[-1]
        self.whole = tpu.ConcatOp.make(
            required_name(last),
            [op.results[0] for op in self.ops[count - 1 :: count]],
            result_types=(last.results[0].type,),
            axis=ROWS,
        )

    @property
    def is_right(self) -> bool:
        """Whether every op makes as many rows of what it reads as it should."""
        return make_their_rows(self.ops)

    @property
    def computing(self) -> list[Operation]:
        """The ops that take the place of those of the chain, in order."""
        return [*self.reads, *self.ops, self.whole]

    def _rows(self, number: int) -> Operation:
        value = self.chain[0].operands[0]
        start, length = self.bands.read[number]
        source = shape_of(value)
        shape = with_rows(source, length)
        at = (0, 0, start, 0)
        axes = [(Along(n, at=first),) for n, first in zip(shape, at, strict=True)]
        moved = Movement(math.prod(shape), (Moved(0, rectangles(shape, source, axes)),))
        read = tpu.RearrangeOp.make(
            f"{required_name(self.chain[0])}_read_{start}",
            (value,),
            result_types=(tensor_like(value, shape),),
            boxes=tpu.RearrangeOp.listed(moved),
        )
        read.attributes[LAYER] = StringAttr(layer_of(self.chain[0]))
        return read

    def insert(self) -> None:
        """Put the bands behind the chain, whose result nothing reads then."""
        last = self.chain[-1]
        block = cast(Block, last.parent)
        last.results[0].replace_all_uses_with(self.whole.output)
        block.insert_ops_after(self.computing, last)

    def erase(self) -> None:
        """As if there had been no bands."""
        self.whole.output.replace_all_uses_with(self.chain[-1].results[0])
        for op in (self.whole, *reversed(self.ops), *self.reads):
            op.detach()
            op.erase()

    def erase_chain(self) -> None:
        """Only bands are left."""
        for op in reversed(self.chain):
            op.detach()
            op.erase()


def band(
    chain: Sequence[Operation], bands: Bands, number: int, value: SSAValue
) -> Iterator[Operation]:
    """The ops of a chain on one of its bands, of which the first reads `value`."""
    taken = bands.read[number]
    for op, made, window in zip(chain, bands.made, bands.windows, strict=True):
        part = op.clone()
        part.operands[0] = value
        start, length = made[number]
        result = op.results[0]
        kind = tensor_like(result, with_rows(shape_of(result), length))
        value = Rewriter.replace_value_with_new_type(part.results[0], kind)
        if window is not None and isinstance(part, Windows):
            _pad(part, window, taken, made[number])
        part.location = name_loc(f"{required_name(op)}_rows_{start}")
        part.attributes[LAYER] = StringAttr(layer_of(op))
        taken = made[number]
        yield part


def make_their_rows(ops: Sequence[Operation]) -> bool:
    """Whether ops on bands make as many rows of what they read as they should."""
    try:
        return all(
            op.result_shapes() == (shape_of(op.results[0]),)
            for op in ops
            if isinstance(op, Windows)
        )
    except ShapeError:
        return False


def _pad(op: Windows, window: Window, read: Range, made: Range) -> None:
    """Give an op on a band the padding that its windows see above and below."""
    first = made[0] * window.stride - window.before
    end = first + (made[1] - 1) * window.stride + window.extent
    pads = list(ints(op.pads))
    low, high = read[0] * window.apart, (read[0] + read[1] - 1) * window.apart + 1
    pads[0], pads[2] = max(0, low - first), max(0, end - high)
    op.pads = I64_ARRAY.encode(pads)


@dataclass(frozen=True)
class Best:
    """The first `end` ops of a chain in bands, which begin at each of `ends`, and what these and
    the ops behind take."""

    end: int
    ends: Sequence[int]
    taken: Taken


def best_bands(
    chain: Sequence[Operation],
    behind: Sequence[Operation],
    plain: Taken,
    ops: Sequence[Operation],
    costs: WindowCosts,
) -> Best | None:
    """The bands with which a chain and the ops behind it are done first, if that is before `plain`,
    what they take without any; `ops` are all of the network. None, too, where weights take longer
    than ops, unless less is moved than without bands, be it with the first op done from DDR."""
    best: Best | None = None
    fewest, most = plain, 0
    for end in _ends(chain):
        last = math.inf
        for count in BANDS:
            found = _priced(chain, end, even(chain[:end], count), behind, costs, last)
            if found is None:
                break
            if found.taken.cycles < fewest.cycles:
                best, fewest, most = found, found.taken, count
            if found.taken.cycles >= last < math.inf:
                break
            last = found.taken.cycles
    end = 0 if best is None else best.end
    for count in (most, 2 * most) if end else ():
        ends, limit = growing(chain[:end], count), SURE * fewest.cycles
        found = _priced(chain, end, ends, behind, costs, limit)
        if found is not None and found.taken.cycles < limit:
            best, fewest = found, found.taken
    if best is None or loading(ops, costs.chip) < costs.computed(ops):
        return best
    moved = min(plain.moved, costs.first_alone([*chain, *behind]).moved)
    return best if fewest.moved < moved else None


def _priced(
    chain: Sequence[Operation],
    end: int,
    ends: Sequence[int],
    behind: Sequence[Operation],
    costs: WindowCosts,
    limit: float,
) -> Best | None:
    """The first ops of a chain in bands, and what they take if that is less than `limit`; None when
    an op cannot make them."""
    cut = cut_into(chain[:end], ends)
    if cut is None:
        return None
    cut.insert()
    taken = costs.straight([*cut.computing, *chain[end:], *behind], limit)
    cut.erase()
    return Best(end, ends, taken)


def cut_into(chain: Sequence[Operation], ends: Sequence[int]) -> "Cut | None":
    """A chain in bands that begin at each of `ends`; None when an op cannot make them."""
    bands = bands_of(chain, ends)
    cut = None if bands is None else Cut(chain, bands)
    return cut if cut is not None and cut.is_right else None


def _ends(chain: Sequence[Operation]) -> Iterator[int]:
    """How many ops of a chain may be cut: whatever follows windows goes with them."""
    for end in range(1, len(chain) + 1):
        windows = any(isinstance(op, Windows) for op in chain[:end])
        if windows and (end == len(chain) or isinstance(chain[end], Windows)):
            yield end


def with_rows(shape: Sequence[int], rows: int) -> tuple[int, ...]:
    return (*shape[:ROWS], rows, *shape[ROWS + 1 :])
