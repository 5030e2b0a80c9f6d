"""Whether merging kernel rows or columns into channels is worth its loads, by measured cycles.

A merged convolution has its input loaded once for each row of the filter, so it cannot take it
from the local memory of its group: the op before must store it. That often pays for images, which
come from DDR anyway, and seldom behind other ops. Where a network's weights take all the time, the
form that moves less is the faster one. First ops count as they are in bands of rows, where that is
faster: images are loaded while others are worked on then.
"""

import math
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, NoneType, TensorType, UnknownLoc, i64
from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interpreters.coefficients import CoefficientLayout
from xdsl_tpu.dialects.interpreters.layouts import FilterShape, reordered_filter_shape
from xdsl_tpu.passes.bands import best_bands, chains
from xdsl_tpu.passes.graph import module_of
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.window import WindowCosts, loading
from xdsl_tpu.passes.tensors import element_bytes, element_of, required_name, shape_of
from xdsl_tpu.passes.weight_reorder.merge_rule import is_quantized, note_row, note_words, with_flags

LONGEST_WINDOW = 10
"""Ops that are looked at around a convolution."""

LITTLE = 0.0075
"""By what share of its time a network must be done earlier for a form that moves less, but takes
longer by itself, or for merged columns beside rows: where weights lie matters as much."""

LATE = 0.1
"""What share of the weights that could be loaded beside the ops of a window comes later, as a rule:
where they will lie is not free at once."""

BEHIND_INPUT, BEHIND_OP = 8, 2
"""How many ops behind a convolution are in its window. What is stored at the end of a window counts
in either case, although the ops of the network may not store there; behind images, whose results
are large, the window ends where less is stored."""


def choose_merges(
    block: Block, possible: Mapping[tpu.Conv2DOp, Sequence[int]], chip: Chip, bands: bool = True
) -> dict[tpu.Conv2DOp, int]:
    """For convolutions of a block what to merge: one of what is possible, or nothing. `bands`: the
    first ops may be cut into bands of rows later.

    Weights of all other ops must be laid out already. Convolutions are decided in order; those to
    come count as not merged. What has no kernel without merging, such as windows farther apart than
    a command can say, is merged.
    """
    ops = computing_ops(block)
    costs = WindowCosts(chip, module_of(ops[0]))
    trials = {conv: _Trial(conv, chip, costs) for conv in possible}
    chosen: dict[tpu.Conv2DOp, int] = {}
    for trial in trials.values():
        trial.lay_out(0)
    for conv, modes in possible.items():
        window = _window(ops, conv)
        chosen[conv], best = 0, _Price(window, ops, costs, bands)
        for mode in modes:
            trials[conv].lay_out(mode)
            price = _Price(window, ops, costs, bands)
            if price.clearly_before(best) if chosen[conv] else not best.is_best(price):
                chosen[conv], best = mode, price
        trials[conv].lay_out(chosen[conv])
    for trial in trials.values():
        trial.restore()
    return chosen


class _Price:
    """What a window takes as its convolution is now, and the network around it."""

    def __init__(
        self,
        window: Sequence[Operation],
        ops: Sequence[Operation],
        costs: WindowCosts,
        bands: bool,
    ) -> None:
        self.window, self.ops, self.costs = window, ops, costs
        self.taken = costs.window(window)
        for chain in chains(window) if bands else ():
            if chain[0] is window[0]:
                behind = window[len(chain) :]
                best = best_bands(chain, behind, self.taken, ops, costs)
                self.taken = self.taken if best is None else best.taken

    def is_best(self, other: "_Price") -> bool:
        """Whether the network is done no later than with another form of the convolution.

        It is done when all has been computed and all weights have been loaded, unless there is too
        little room to load them meanwhile: a form that moves less, but takes longer by itself, must
        be the better one with and without that, also if what it counts on being loaded meanwhile
        comes in part only (`LATE`). Where the faster window moves no more, that is all the same.
        """
        mine, theirs = self.taken, other.taken
        if not math.isfinite(mine.cycles):
            return False
        weights, fewest = loading(self.ops, self.costs.chip), min(mine.cycles, theirs.cycles)
        is_faster = mine.cycles <= theirs.cycles
        if is_faster == (mine.moved <= theirs.moved):
            return is_faster
        if weights + max(mine.moved, theirs.moved) <= fewest:
            return is_faster
        inside = set(self.window)
        around = self.costs.computed([op for op in self.ops if op not in inside])
        ends = [max(around + taken.cycles, weights + taken.moved) for taken in (mine, theirs)]
        late = [one.end + LATE * min(one.taken.ahead, weights) for one in (self, other)]
        if is_faster:
            return not (ends[1] < (1 - LITTLE) * ends[0] and late[1] <= late[0])
        return ends[0] < (1 - LITTLE) * ends[1] and late[0] <= late[1]

    def clearly_before(self, other: "_Price") -> bool:
        """Whether the network is done earlier than with another form by more than little."""
        return self.end < (1 - LITTLE) * other.end

    @property
    def end(self) -> float:
        """When the network is done."""
        return self.costs.network(self.ops, self.window, self.taken)


def _window(ops: Sequence[Operation], conv: tpu.Conv2DOp) -> Sequence[Operation]:
    """A convolution with what makes its input, behind casts, what else reads that, and some ops
    behind."""
    position = {op: index for index, op in enumerate(ops)}
    end = position[conv]
    start, behind = end, BEHIND_INPUT
    value: SSAValue = conv.input
    readers: list[int] = []
    while (owner := value.owner) in position:
        assert isinstance(owner, Operation)
        start = position[owner]
        readers += [position[use.operation] for use in value.uses if use.operation in position]
        if not isinstance(owner, tpu.CastOp):
            behind = BEHIND_OP
            break
        value = owner.input
    start = max(start, end - LONGEST_WINDOW + 1)
    near = [reader for reader in readers if reader < start + LONGEST_WINDOW]
    return ops[start : max([end + behind, *near]) + 1]


class _Trial:
    """A convolution as it will be when its filter is laid out one way or the other."""

    def __init__(self, op: tpu.Conv2DOp, chip: Chip, costs: WindowCosts) -> None:
        self.op, self.chip, self.costs = op, chip, costs
        self.operands, self.attributes = list(op.operands), dict(op.attributes)
        self.quantized = is_quantized(op)

    def restore(self) -> None:
        """Make the op again what it was."""
        for place, value in enumerate(self.operands):
            self.op.operands[place] = value
        self.op.attributes = dict(self.attributes)
        self.costs.prices.forget(self.op)

    def lay_out(self, mode: int) -> None:
        """Give the op types and attributes of the merge `mode`; its filter has no data."""
        self.restore()
        op, filter_ = self.op, self.operands[1]
        flags = IntegerAttr(with_flags(op, mode), i64)
        shape = FilterShape(*shape_of(filter_))
        lanes = self.chip.weight_lanes
        target = reordered_filter_shape(shape, element_bytes(filter_), lanes.row, 1, mode)
        if self.quantized:
            has_bias = not is_none(self.operands[2]) and not bool(op.requant_floats)
            row = target[2] * target[3]
            target = CoefficientLayout(shape.oc, row, has_bias, False, lanes).shape
            op.operands[2] = top.NoneOp.make(UnknownLoc(), (), result_types=[NoneType()]).output
            op.coeff_merged = BoolAttr.from_bool(True)
            op.multiplier = op.rshift = None
            note_words(op, lanes.words)
        trial = top.WeightOp.make(
            required_name(filter_), (), result_types=(TensorType(element_of(filter_), target),)
        )
        op.operands[1] = trial.output
        op.use_3ic_optimize = flags
        note_row(op, lanes.row)
