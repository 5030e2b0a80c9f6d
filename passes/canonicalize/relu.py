"""Relu: into the op before it."""

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, F64, F64Attr
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.dialects.top.traits import SupportFuseRelu
from xdsl_tpu.passes.calibration.ranges import range_of
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.graph import derived_name, drop, sole_producer


class FuseRelu(RewritePattern):
    """Relu(Conv(x)) -> Conv(x) {do_relu = true}, for every op that can end with a relu.

    Of two limits the smaller one stays, and of two ranges the relu's.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReluOp, rewriter: PatternRewriter) -> None:
        before = sole_producer(op.input, FusedReluOp)
        if before is None or not _fuses(before):
            return
        limit = op.relu_limit
        if has_relu(before):
            limit = _smaller(before.relu_limit, limit)
        before.do_relu, before.relu_limit = BOOL.encode(True), limit
        before.location = op.location
        if range_of(op.output) is not None:
            rewriter.replace_value_with_new_type(op.input, op.output.type)
        rewriter.notify_op_modified(before)
        drop(op, op.input, rewriter)


class MoveReluBeforeConcat(RewritePattern):
    """Relu(Concat(Conv(x), Conv(y))) -> Concat(Relu(Conv(x)), Relu(Conv(y))).

    Every input comes from an op that can end with a relu, into which the new ones then fuse.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReluOp, rewriter: PatternRewriter) -> None:
        concat = sole_producer(op.input, top.ConcatOp)
        if concat is None or has_relu(concat) or len(concat.inputs) == 0:
            return
        if not all(
            isinstance(value.owner, Operation) and _fuses(value.owner) for value in concat.inputs
        ):
            return
        relus = [
            top.ReluOp.make(
                derived_name(value, "_r_relu"),
                (value,),
                result_types=[value.type],
                relu_limit=op.relu_limit,
            )
            for value in concat.inputs
        ]
        rewriter.insert(relus, InsertPoint.before(concat))
        concat.operands = [relu.output for relu in relus]
        concat.location = op.location
        if range_of(op.output) is not None:
            rewriter.replace_value_with_new_type(concat.output, op.output.type)
        rewriter.notify_op_modified(concat)
        drop(op, op.input, rewriter)


def _fuses(op: Operation) -> bool:
    return isinstance(op, FusedReluOp) and op.has_trait(
        SupportFuseRelu, value_if_unregistered=False
    )


def _smaller(first: F64Attr, second: F64Attr) -> F64Attr:
    """The smaller of two limits, of which negative ones mean none."""
    limits = [limit.value.data for limit in (first, second) if limit.value.data >= 0]
    return F64.encode(min(limits)) if limits else second
