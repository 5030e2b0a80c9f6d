"""Ops with an 8-bit form that a network is done earlier with in F16.

8 bits halve what a product of many channels takes, and what weights take from DDR. They do not pay
for depthwise convolutions, whose exact sums are four bytes wide, for products of few channels, nor
for sums of two tensors, each of which is brought to the scale of the result; and between ops that
compute on floats in any case, casts cost more than they save. Which ops on images are in which
format, so that all together and the casts between them take the fewest cycles, is a minimum cut.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.passes.layout.min_cut import minimum_cut
from xdsl_tpu.passes.layout.problem import Cost, Problem, Reader, Tensor, total_cost
from xdsl_tpu.passes.lowering.int8.by_floats import float_function_of, plain_function
from xdsl_tpu.passes.lowering.int8.functions import FUNCTIONS
from xdsl_tpu.passes.lowering.int8.level_ramps import shared_range
from xdsl_tpu.passes.lowering.int8.prices import BYTE, HALF, Prices
from xdsl_tpu.passes.lowering.int8.soft_ramp import RAMPS
from xdsl_tpu.passes.lowering.int8.table import FOLLOWING
from xdsl_tpu.passes.tensors import is_weight, shape_of

IN_8_BITS, IN_F16 = 0, 1
"""Labels of a cut."""

WIDTHS = {IN_8_BITS: BYTE, IN_F16: HALF}
"""Bytes of an element."""

GAIN = 0.97
"""A network must be done in this part of the time that it takes with all in 8 bits, by estimate."""

NOT_BESIDE = 0.2
"""What share of the engine that has less to do does not come beside the work of the other: copies
are needed by the first ops, when little else can be done."""

UNKNOWN = 10
"""Passes of an op that is in floats in any case, about."""

WINDOWS = (top.AvgPoolOp, top.ConvOp, top.DeconvOp, top.MaxPoolOp)
"""Ops on images, whose channels lie over the lanes."""

Kept = Callable[[Operation], bool]


def is_floating(op: Operation, in_float: Kept, chip: Chip) -> bool:
    """Whether an op computes on floats: by `in_float`, or because its function is faster so."""
    known = type(op) in FUNCTIONS and not in_float(op)
    level = known and shared_range(op) is not None
    return in_float(op) or (known and float_function_of(op, chip, False, level=level) is not None)


def faster_in_floats(
    func: FuncOp, modes: Mapping[Operation, str], chip: Chip, floating: Kept, stays: Kept
) -> set[Operation]:
    """The ops in 8 bits that had better be in F16: none where a network waits for its weights.

    `modes` has the ops that are lowered. `floating` says which of them compute on floats already,
    `stays` which cannot change.
    """
    large = images(func)
    found = [
        formats(func, modes, Prices(chip, large, apart), floating, stays) for apart in (False, True)
    ]
    problem, variables = found[-1]

    def end(labels: Sequence[int]) -> float:
        """When all is done, copies of what is given beside the rest."""
        total = total_cost(problem, labels)
        if total is None:
            return inf
        copies = (prices.copied(op, WIDTHS[labels[one]]) for op, one in variables.items())
        work = total.first, loading + sum(copies)
        return max(work) + NOT_BESIDE * min(work)

    prices = Prices(chip, large, apart=True)
    loading = prices.moved(func)
    kept = [one or IN_8_BITS for one in problem.fixed]
    chosen = [minimum_cut(one, IN_8_BITS).labels for one, _ in found]
    labels = min(chosen, key=end)
    if end(labels) > GAIN * end(kept):
        return set()
    return {
        op
        for op, variable in variables.items()
        if labels[variable] == IN_F16 and not floating(op) and not isinstance(op, FOLLOWING)
    }


def formats(
    func: FuncOp, modes: Mapping[Operation, str], prices: Prices, floating: Kept, stays: Kept
) -> tuple[Problem, dict[Operation, int]]:
    """The format of every op as a problem of two labels, and the variable of each op.

    What takes the type of its operand shares a variable with what makes it. Only ops on images and
    functions like GELU can change: casts within an attention would part products from what moves
    their operands.
    """
    problem, variables = Problem(), dict[Operation, int]()
    for op in func.body.block.ops:
        if op not in modes or not op.results:
            continue
        source = op.operands[0].owner if isinstance(op, FOLLOWING) else None
        if isinstance(source, Operation) and source in variables:
            variables[op] = variables[source]
        elif floating(op):
            cycles = Cost(prices.of(op).half or UNKNOWN * prices.passes(op))
            variables[op] = problem.variable(IN_F16, (cycles, cycles))
        else:
            eight, half = prices.of(op)
            function = plain_function(op)
            is_ramp = function is not None and function.mode in RAMPS
            free = prices.is_image(op) or is_ramp
            kept = IN_8_BITS if stays(op) or not free else None
            variables[op] = problem.variable(kept, (Cost(eight), Cost(half)))
    outside = problem.variable(IN_F16)
    for value in _values(func):
        readers = {variables[one] for use in value.uses if (one := use.operation) in variables}
        made = variables.get(value.owner) if isinstance(value.owner, Operation) else None
        if not readers or readers == {made}:
            continue
        wide = made is None
        costs = Cost(prices.to_half(value), 0, 1), Cost(prices.to_eight(value, wide), 0, 1)
        producer = outside if made is None else made
        problem.tensors.append(Tensor(producer, tuple(map(Reader, sorted(readers))), costs))
    return problem, variables


def _values(func: FuncOp) -> list[SSAValue]:
    """The tensors that something computes, in order."""
    block = func.body.block
    values = [*block.args, *(result for op in block.ops for result in op.results)]
    return [one for one in values if isinstance(one.type, TensorType) and not is_weight(one)]


def images(func: FuncOp) -> set[SSAValue]:
    """The values that ops on images take and give, and what is computed of them, as large."""
    found: set[SSAValue] = set()
    for op in func.body.block.ops:
        tensors = [v for v in (*op.operands, *op.results) if isinstance(v.type, TensorType)]
        large = [v for v in tensors if not is_weight(v) and len(shape_of(v)) >= 4]
        if isinstance(op, WINDOWS):
            found.update(large)
        elif any(value in found for value in op.operands):
            found.update(v for v in op.results if v in large and not _is_moved(op))
    return found


def _is_moved(op: Operation) -> bool:
    """Whether an op may bring elements of a channel to other lanes."""
    return isinstance(op, top.MatMulOp | top.PermuteOp | top.ReshapeOp | top.UnsqueezeOp)
