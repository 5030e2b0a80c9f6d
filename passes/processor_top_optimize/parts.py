"""Sums over the few parts that the channels of an image are divided into."""

import math
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interfaces.shape_rules import broadcast
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.graph import derived_name, has_shapes, module_of, none_for, tensor_like
from xdsl_tpu.passes.module_state import text_attribute
from xdsl_tpu.passes.tensors import shape_of

MOST_PARTS = 4
"""More would be added one after the other for longer than a reduction takes."""


class ReduceOfParts(RewritePattern):
    """Reduce(x: 1x2xCxHxW) {ReduceSum, axes = [1]} -> Add(Slice(image, C), Slice(image, C)).

    The image, 1x2CxHxW, is a Reshape of x. Channels lie over the lanes and the parts of an image
    are ranges of them, which layer groups hold; a reduction wants its axis in a row of one lane.
    So are means, times 1 / parts. Integer networks keep the reduction of more than two parts, whose
    partial sums have no scale; parts have that of the whole.

    The parts of a Concat along the axis are its inputs, and those of a product are products of
    parts: branches that are weighted and added up (selective kernels, split attention) are never
    put behind each other.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        mode, axes = op.mode.data, ints(op.axes)
        if mode not in {"ReduceSum", "ReduceMean"} or len(axes) != 1:
            return
        if not has_shapes(op.input, op.output):
            return
        shape = shape_of(op.input)
        axis = axes[0] % len(shape)
        count, inner = shape[axis], shape[axis + 1 :]
        integer = text_attribute(module_of(op), "module.mode") == "INT8"
        if not 1 < count <= (2 if integer else MOST_PARTS) or len(inner) < 3:
            return
        makes = _Parts(op, axis, count, inner[1:], none_for(op, rewriter))
        parts, made = makes.of(op.input), makes.made
        kind = tensor_like(op.output, shape_of(parts[0]))
        total = parts[0]
        for index, part in enumerate(parts[1:], 1):
            name = derived_name(op, f"_r_sum{index}")
            share = 1 / count if integer and mode == "ReduceMean" else 1.0
            coeff = None if share == 1.0 else (share, share)
            added = top.AddOp.make(name, (total, part), result_types=[kind], coeff=coeff)
            made.append(added)
            total = added.output
        if mode == "ReduceMean" and not integer:
            name, share = derived_name(op, "_r_mean"), 1 / count
            scaled = top.MulConstOp.make(name, (total,), result_types=[kind], const_val=share)
            made.append(scaled)
            total = scaled.output
        made.append(reshape(op.location, total, shape_of(op.output)))
        rewriter.replace(op, made)


@dataclass
class _Parts:
    """The parts of values along one axis as images; `made` are the ops that make them."""

    op: top.ReduceOp
    axis: int
    count: int
    pixels: tuple[int, ...]
    """The sizes behind the channels, HxW, of the images."""
    none: SSAValue
    made: list[Operation] = field(default_factory=list[Operation])

    def of(self, value: SSAValue, factor: str = "") -> list[SSAValue]:
        """NxCxHxW for each part: N is all before the axis, and HxW may be 1x1.

        `factor` is what the names of parts of a factor have beside those of the whole.
        """
        seen, shape = self._seen(value), shape_of(value)
        outer, channels, pixels = self._image(shape)
        if isinstance(product := seen.owner, top.MulOp) and self._is_product(product, value):
            left, right = (self.of(x, f"{factor}_f{i}") for i, x in enumerate(product.inputs))
            return [
                self._product(product, pair, f"_r{factor}_product{index}")
                for index, pair in enumerate(zip(left, right, strict=True))
            ]
        if isinstance(concat := seen.owner, top.ConcatOp) and self._joins_parts(concat):
            made = [
                reshape(derived_name(self.op, f"_r{factor}_part{i}"), x, (outer, channels, *pixels))
                for i, x in enumerate(concat.inputs)
            ]
            self.made += made
            return [part.output for part in made]
        name = derived_name(self.op, f"_r{factor}_image")
        image = reshape(name, seen, (outer, self.count * channels, *pixels))
        parts = [
            slice_along(
                derived_name(self.op, f"_r{factor}_part{index}"),
                image.output,
                1,
                (index * channels, (index + 1) * channels),
                self.none,
            )
            for index in range(self.count)
        ]
        self.made += [image, *parts]
        return [part.output for part in parts]

    def _seen(self, value: SSAValue) -> SSAValue:
        """What `value` is a view of that has the same parts and channels."""
        kept = shape_of(value)[: self.axis + 2]
        while isinstance(view := value.owner, top.ReshapeOp | top.UnsqueezeOp):
            if not has_shapes(view.input) or shape_of(view.input)[: self.axis + 2] != kept:
                break
            value = view.input
        return value

    def _image(self, shape: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        """N, the channels of a part, and the sizes behind them."""
        one = math.prod(shape[self.axis + 2 :]) == 1
        pixels = (1,) * len(self.pixels) if one else self.pixels
        return math.prod(shape[: self.axis]), shape[self.axis + 1], pixels

    def _is_product(self, op: top.MulOp, value: SSAValue) -> bool:
        """Whether nothing else wants `value`, and the factors have its parts and channels."""
        if has_relu(op) or len(op.inputs) != 2 or not has_shapes(*op.inputs):
            return False
        while value is not op.output:
            if not value.has_one_use() or not isinstance(value.owner, Operation):
                return False
            value = value.owner.operands[0]
        whole = shape_of(op.output)
        return op.output.has_one_use() and all(
            shape[: self.axis + 2] == whole[: self.axis + 2]
            and (shape == whole or math.prod(shape[self.axis + 2 :]) == 1)
            for shape in map(shape_of, op.inputs)
        )

    def _joins_parts(self, op: top.ConcatOp) -> bool:
        """Whether each input of the Concat is one of the parts."""
        if has_relu(op) or len(op.inputs) != self.count or not has_shapes(*op.inputs):
            return False
        return op.axis.value.data % len(shape_of(op.output)) == self.axis

    def _product(self, op: top.MulOp, pair: tuple[SSAValue, SSAValue], suffix: str) -> SSAValue:
        kind = tensor_like(op.output, broadcast(*map(shape_of, pair)))
        made = top.MulOp.make(derived_name(self.op, suffix), pair, result_types=[kind])
        self.made.append(made)
        return made.output
