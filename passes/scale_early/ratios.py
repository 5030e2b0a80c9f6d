"""Ratios of long sums: both terms are made smaller by the same power of two."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FloatAttr, f64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.graph import derived_name, has_shapes, is_calibrated, users
from xdsl_tpu.passes.scale_early.sources import is_move
from xdsl_tpu.passes.tensors import is_weight, shape_of

LONG = 32
"""Terms of a sum. Of so many numbers near 20 the sum, times another, is beyond f16 (65,504)."""


@dataclass(frozen=True)
class _Term:
    """The product that a term of a ratio is moved from, and the ops between, the last one first."""

    product: top.MatMulOp
    path: tuple[Operation, ...]


@dataclass
class ScaleRatio(RewritePattern):
    """Div(MatMul(q, a), MatMul(q, b) + c) -> Div(MatMul(s q, a), MatMul(s q, b) + s c).

        %k = Reduce %keys (sum of 1200 rows)          %s = MulConst %q * 2^-11
        %z = MatMul %q, %k                            %z = MatMul %s, %k
        %r = Reciprocal (%z + 1e-6)            ->     %r = Reciprocal (%z + 1e-6 * 2^-11)
        %v = MatMul %q, %kv                           %v = MatMul %s, %kv
        %y = Mul %v, %r                               %y = Mul %v, %r

    Attention without a softmax divides by what all keys add up to, which f16 does not hold: what
    it gave was 0 or NaN. The two products have an operand in common, or are one product of which
    parts are divided by others; multiplied are that operand or the other ones, whichever are fewer
    numbers. s is the power of two at or below one over the longest sum of at
    least `LONG` terms in the divisor, so that no digit changes. Each ratio is looked at once.
    """

    seen: set[Operation] = field(default_factory=set[Operation])

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if op in self.seen or not isinstance(op, top.DivOp | top.MulOp):
            return
        self.seen.add(op)
        for number, divisor in _ratios(op):
            above, below = _term(number, op), _term(divisor, op)
            if above is None or below is None or not _apart(op, above, below):
                continue
            operands = _operands(above.product, below.product)
            terms = _longest_sum(below.product)
            if operands and terms >= LONG:
                _scale(operands, above, below, 2.0 ** -math.ceil(math.log2(terms)), rewriter)
                return


def _ratios(op: top.DivOp | top.MulOp) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Pairs of what is divided and by what; a factor is a divisor behind its Reciprocal."""
    if isinstance(op, top.DivOp):
        if not op.is_reverse.value.data and len(op.inputs) == 2:
            yield op.inputs[0], op.inputs[1]
    elif len(op.inputs) == 2:
        for number, factor in (tuple(op.inputs), tuple(op.inputs)[::-1]):
            at = factor
            while isinstance(at.owner, Operation) and is_move(at.owner) and at.has_one_use():
                at = at.owner.operands[0]
            if isinstance(at.owner, top.ReciprocalOp):
                yield number, factor


def _term(value: SSAValue, op: Operation) -> _Term | None:
    """Where a term comes from; None where anything but movement and a constant lies between."""
    path: list[Operation] = []
    while isinstance(owner := value.owner, Operation):
        if isinstance(owner, top.MatMulOp):
            product = _is_plain(owner)
            return _Term(owner, tuple(path)) if product else None
        known = isinstance(owner, top.ReciprocalOp) or is_move(owner)
        known = known or (isinstance(owner, top.AddConstOp) and not has_relu(owner))
        if not known or is_calibrated(value):
            return None
        path.append(owner)
        value = owner.operands[0]
    return None


def _is_plain(op: top.MatMulOp) -> bool:
    return is_none(op.bias) and not has_relu(op) and has_shapes(op.input, op.right, op.output)


def _apart(op: Operation, above: _Term, below: _Term) -> bool:
    """Whether nobody else reads what is scaled."""
    scaled = [above.product, *above.path, below.product, *below.path]
    once = sum(isinstance(one, top.ReciprocalOp) for one in below.path) == isinstance(op, top.MulOp)
    never = not any(isinstance(one, top.ReciprocalOp) for one in above.path)
    inner = {*scaled, op}
    return once and never and all(set(users(one.results[0])) <= inner for one in scaled)


def _operands(above: top.MatMulOp, below: top.MatMulOp) -> list[tuple[top.MatMulOp, int]]:
    """Which operands to multiply: the one that the products have in common, or the other one of
    each, whichever are fewer numbers; none where they have nothing in common, or weights."""
    products = list(dict.fromkeys((below, above)))
    best: list[tuple[top.MatMulOp, int]] = []
    least = math.inf
    for place, value in enumerate(below.operands[:2]):
        if value not in above.operands[:2]:
            continue
        other = 0 if above.operands[0] is value else 1
        places = [place, other][: len(products)]
        for chosen in (places, [1 - one for one in places]):
            found = [(p, n) for p, n in zip(products, chosen, strict=True)]
            values = {p.operands[n] for p, n in found}
            size = sum(math.prod(shape_of(one)) for one in values)
            if size < least and not any(is_weight(one) for one in values):
                best, least = found, size
    return best


def _longest_sum(product: top.MatMulOp) -> int:
    """The most terms of a sum in a product, or in what makes its operands."""
    most = shape_of(product.input)[-1]
    for value in (product.input, product.right):
        while isinstance(value.owner, Operation) and is_move(value.owner):
            value = value.owner.operands[0]
        maker = value.owner
        if isinstance(maker, top.MatMulOp) and _is_plain(maker):
            most = max(most, shape_of(maker.input)[-1])
        elif isinstance(maker, top.ReduceOp) and maker.mode.data == "ReduceSum":
            shape = shape_of(maker.input)
            most = max(most, math.prod(shape[axis] for axis in ints(maker.axes)))
    return most


def _scale(
    operands: list[tuple[top.MatMulOp, int]],
    above: _Term,
    below: _Term,
    factor: float,
    rewriter: PatternRewriter,
) -> None:
    """Multiply operands of the products, and what is added to these."""
    made: dict[SSAValue, top.MulConstOp] = {}
    for product, index in operands:
        value = product.operands[index]
        assert isinstance(value.owner, Operation)
        if value not in made:
            made[value] = top.MulConstOp.make(
                derived_name(product, "_r_share"),
                (value,),
                result_types=[value.type],
                const_val=factor,
            )
            rewriter.insert(made[value], InsertPoint.after(value.owner))
        product.operands[index] = made[value].output
    for one in dict.fromkeys((above.product, below.product, *above.path, *below.path)):
        if isinstance(one, top.AddConstOp):
            one.const_val = FloatAttr(one.const_val.value.data * factor, f64)
        one.location = name_loc(derived_name(one, "_r_scaled"))
        rewriter.notify_op_modified(one)
