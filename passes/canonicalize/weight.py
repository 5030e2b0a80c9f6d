"""Weight: equal numbers are stored once."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.top.traits import SupportConstant
from xdsl_tpu.passes.constants import is_f32_weight, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes
from xdsl_tpu.passes.tensors import is_weight, shape_of


class WeightToConst(RewritePattern):
    """Add(x: 4x8, W: 8 zeros) -> Add(x, W: 1 zero), for every op that allows it.

    The weight is the op's alone, and the result has the shape of the other inputs, so that
    broadcasting does not depend on the weight. The ops' own patterns then do away with it.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.WeightOp, rewriter: PatternRewriter) -> None:
        use = op.output.get_unique_use()
        if use is None or not is_f32_weight(op.output) or shape_of(op.output) == (1,):
            return
        user = use.operation
        if not user.has_trait(SupportConstant, value_if_unregistered=False):
            return
        others = [value for value in user.operands if not is_weight(value)]
        if not others or not has_shapes(*others, user.results[0]):
            return
        if any(shape_of(value) != shape_of(user.results[0]) for value in others):
            return
        values = values_of(op.output)
        if values is None or values.size == 0 or not (values == values.flat[0]).all():
            return
        single = make_weight(op, derived_name(user, "_constant"), values.reshape(-1)[:1])
        rewriter.replace(op, single)
