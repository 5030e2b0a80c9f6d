"""Boxes of an index map as commands of the GDMA: which loops each command has.

A command copies at most four loops. Between local memory and DDR one of them goes over the lanes
and one is the run, the elements that lie one behind the other on both sides. What does not fit is
a command for each step; which loops stay is what takes the fewest cycles.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, permutations
from math import prod

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.transfer import fetch, load_cycles, put, store_cycles
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    Layout,
    LocalTensor,
    Shape4,
    plain_strides,
)
from xdsl_tpu.backend.timing.gdma_cost import (
    Direction,
    Side,
    broadcast_cycles,
    channel_share,
    contiguous_run,
    ddr_layout,
    rate_of,
    tensor_cycles,
)
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit
from xdsl_tpu.dialects.records import record

RAW = {1: DType.U8, 2: DType.U16, 4: DType.U32}
"""By which type elements of so many bytes are moved."""

LARGEST_SIZE = LIMITS.extent
"""Sizes of a command are 16-bit fields."""

MOST_COMMANDS = 1 << 15
"""More commands than this are not worth counting: they would move a few bytes each."""

_FARTHEST = 1 << 32  # no stride of a command says so much

_NO_LOOP = Digit(1, 0, 0)

_EVEN = 1 << 15
"""Of multiples of so many elements, all that fit into DDR are loops of sizes that commands hold."""


@record(frozen=True, slots=True)
class Lanes:
    """The loop over the lanes: channels, their distance in DDR, that of lane groups in a lane."""

    count: int
    ddr: int
    group: int


@record(frozen=True, slots=True)
class Transfers:
    """Commands between a buffer in local memory and DDR, addresses counted from both starts."""

    pairs: tuple[tuple[LocalTensor, GlobalTensor], ...]
    cycles: int

    def load(self, emitter: Emitter, buffer: int, address: int) -> None:
        """To the buffer at this offset of every lane, from this place in DDR."""
        for local, ddr in self.pairs:
            target = replace(local, address=local.address + buffer)
            source = replace(ddr, address=ddr.address + address)
            if repeats(source):
                n, _, h, w = source.shape
                emitter.load_broadcast(target, replace(source, shape=(n, 1, h, w)))
            else:
                fetch(emitter, target, source)

    def store(self, emitter: Emitter, buffer: int, address: int) -> None:
        """The other way."""
        for local, ddr in self.pairs:
            source = replace(local, address=local.address + buffer)
            put(emitter, replace(ddr, address=ddr.address + address), source)


def repeats(source: GlobalTensor) -> bool:
    """Whether all lanes read the same elements."""
    return source.shape[1] > 1 and source.strides[1] == 0


@lru_cache(maxsize=1 << 14)
def transfers(lanes: Lanes, box: Box, width: int, chip: Chip, stores: bool) -> Transfers | None:
    """The cheapest commands for a box from DDR (`at`) to a lane's bytes (`to`), or back.

    Loops that go backwards in DDR, or farther than a lane reaches, take a command for each step.
    None when it takes more than `MOST_COMMANDS`, or a size has no factors that a command holds.
    """
    if not all(map(short, box.digits)):
        return None
    loops = [part for digit in box.digits for part in short(digit)]
    unit = next((d for d in loops if (d.to, d.at) == (1, 1)), None)
    others = tuple(d for d in loops if d is not unit)
    price = store_price if stores else load_price
    best: tuple[int, tuple[Digit, ...]] | None = None
    # A broadcast has no stride along w.
    run = _NO_LOOP if unit is None and lanes.count > 1 and lanes.ddr == 0 else unit
    forward = [d for d in others if d.at >= 0 and d.to < _FARTHEST]
    for kept in _choices(forward, run):
        count = prod(d.extent for d in others if d not in kept)
        if count > MOST_COMMANDS or (best and count >= best[0]):
            continue
        # A cycle more for each: rounding down must not make many small commands look cheaper.
        total = count * (price(*_pair(lanes, box.to, box.at, kept, width), chip) + 1)
        if best is None or total < best[0]:
            best = total, kept
    if best is None:
        return None
    rest = tuple(digit for digit in others if digit not in best[1])
    pairs = [_pair(lanes, to, at, best[1], width) for to, at in Box(box.to, box.at, rest).points()]
    return Transfers(tuple(pairs), best[0])


def _choices(others: Sequence[Digit], unit: Digit | None) -> Iterator[tuple[Digit, ...]]:
    """(n, h, w) of a command: all ways to keep two loops beside the run, or three without one."""
    if unit is not None:
        for n, h in dict.fromkeys(permutations((*others, _NO_LOOP, _NO_LOOP), 2)):
            yield n, h, unit
        return
    for kept in dict.fromkeys(permutations((*others, _NO_LOOP, _NO_LOOP, _NO_LOOP), 3)):
        if kept[2].at or kept[2] is _NO_LOOP:
            yield kept


def _pair(
    lanes: Lanes, to: int, at: int, kept: Sequence[Digit], width: int
) -> tuple[LocalTensor, GlobalTensor]:
    n, h, w = kept
    dtype = RAW[width]
    shape = (n.extent, lanes.count, h.extent, w.extent)
    local = (n.to, lanes.group, h.to, w.to if w.extent > 1 else 1)
    ddr = (n.at, lanes.ddr, h.at, w.at if w.extent > 1 else 1)
    return (
        LocalTensor(to * width, shape, local, dtype, Layout.FREE),
        GlobalTensor(at * width, shape, ddr, dtype),
    )


def load_price(local: LocalTensor, ddr: GlobalTensor, chip: Chip) -> int:
    """Cycles of a load, one element for all lanes where they read the same."""
    if not repeats(ddr):
        return load_cycles(local, ddr, chip)
    n, _, h, w = ddr.shape
    joined = h == 1 or (ddr.strides[2] == w and local.strides[2] == w)
    run = (h * w if joined else w) * ddr.dtype.bytes
    return broadcast_cycles(n * h * w * ddr.dtype.bytes, run, chip)


def store_price(local: LocalTensor, ddr: GlobalTensor, chip: Chip) -> int:
    """Cycles of a store."""
    return store_cycles(ddr, local, chip)


def short(digit: Digit) -> tuple[Digit, ...]:
    """A loop as loops whose sizes a command has room for; none where one would have a prime size
    that is larger."""
    if digit.extent <= LARGEST_SIZE:
        return (digit,)
    inner = next(n for n in range(LARGEST_SIZE, 0, -1) if digit.extent % n == 0)
    if inner == 1:
        return ()
    outer = short(Digit(digit.extent // inner, digit.to * inner, digit.at * inner))
    return (*outer, Digit(inner, digit.to, digit.at)) if outer else ()


@record(frozen=True, slots=True)
class Copies:
    """Commands from DDR to DDR: (target, source), addresses counted from both starts."""

    pairs: tuple[tuple[GlobalTensor, GlobalTensor], ...]
    cycles: int

    def emit(self, emitter: Emitter, target: int, source: int) -> None:
        """Between these places."""
        for to, at in self.pairs:
            emitter.move(
                replace(to, address=to.address + target), replace(at, address=at.address + source)
            )


@lru_cache(maxsize=1 << 12)
def direct(box: Box, width: int, chip: Chip) -> Copies | None:
    """The cheapest commands for a box within DDR; None for more than `MOST_COMMANDS`."""
    if not all(map(short, box.digits)):
        return _in_two(box, width, chip)
    loops = [part for digit in box.digits for part in short(digit)]
    unit = next((d for d in loops if (d.to, d.at) == (1, 1)), None)
    others = tuple(d for d in loops if d is not unit)
    forward = [d for d in others if d.at >= 0]
    best: tuple[int, tuple[Digit, ...]] | None = None
    for kept in _direct_choices(forward, unit):
        count = prod(d.extent for d in others if d not in kept)
        if count > MOST_COMMANDS or (best and count >= best[0]):
            continue
        total = count * (_copy_price(*_sides(box.to, box.at, kept, width), chip) + 1)
        if best is None or total < best[0]:
            best = total, kept
    if best is None:
        return None
    rest = tuple(digit for digit in others if digit not in best[1])
    points = Box(box.to, box.at, rest).points()
    return Copies(tuple(_sides(to, at, best[1], width) for to, at in points), best[0])


def _in_two(box: Box, width: int, chip: Chip) -> Copies | None:
    """The commands for a box one loop of which no command holds: those for as much of it as has
    small factors, and those for the rest."""
    place = next(place for place, digit in enumerate(box.digits) if not short(digit))
    whole = box.digits[place]
    even = whole.extent - whole.extent % _EVEN
    ends = replace(whole, extent=even), replace(whole, extent=whole.extent - even)
    first, last = ((*box.digits[:place], end, *box.digits[place + 1 :]) for end in ends)
    behind = Box(box.to + even * whole.to, box.at + even * whole.at, last)
    most = direct(Box(box.to, box.at, first), width, chip)
    rest = direct(behind, width, chip)
    if most is None or rest is None:
        return None
    return Copies((*most.pairs, *rest.pairs), most.cycles + rest.cycles)


def _direct_choices(others: Sequence[Digit], unit: Digit | None) -> Iterator[tuple[Digit, ...]]:
    """(n, c, h, w); n and c are planes, whose order is of no account."""
    last = [unit] if unit is not None else [d for d in others if d.at] or [_NO_LOOP]
    for w in last:
        left = [d for d in others if d is not w]
        for h in (*left, _NO_LOOP):
            planes = [d for d in left if d is not h]
            for n, c in combinations((_NO_LOOP, _NO_LOOP, *planes), 2):
                yield n, c, h, w


def _sides(
    to: int, at: int, kept: Sequence[Digit], width: int
) -> tuple[GlobalTensor, GlobalTensor]:
    n, c, h, w = kept
    shape = (n.extent, c.extent, h.extent, w.extent)
    one = w.extent == 1
    target = (n.to, c.to, h.to, 1 if one else w.to)
    source = (n.at, c.at, h.at, 1 if one else w.at)
    dtype = RAW[width]
    return (
        GlobalTensor(to * width, shape, target, dtype),
        GlobalTensor(at * width, shape, source, dtype),
    )


def _copy_price(target: GlobalTensor, source: GlobalTensor, chip: Chip) -> int:
    """What the estimate says of a copy within DDR."""
    width = target.dtype.bytes
    sides = [_side(source), _side(target)]
    run = min(contiguous_run(side) for side in sides) * width
    share = channel_share(sides, width, ddr_layout(chip))
    return tensor_cycles(target.bytes, rate_of(Direction.COPY, chip), run, share, chip)


def _side(tensor: GlobalTensor) -> Side:
    shape: Shape4 = tensor.shape
    strides = plain_strides(shape, tensor.strides)
    if strides[2] == 0 and shape[2] > 1:  # a repeated row is read along n
        n, c, h, w = shape
        return Side(False, (n * h, c, 1, w), (0, strides[1], w, strides[3]))
    return Side(False, shape, strides)
