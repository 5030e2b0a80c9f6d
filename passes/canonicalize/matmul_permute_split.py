"""QKV products: the split of the three parts moves in front of the permutes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.dialects.top.slice import WHOLE
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.graph import derived_name, has_shapes, sole_user, tensor_like, users
from xdsl_tpu.passes.tensors import shape_of


class MatmulWithPermuteAndSplit(RewritePattern):
    """Split first, then permute: each part gets a Permute of its own, next to its users.

        MatMul 64x49x288
        Reshape 64x49x3x3x32                        MatMul 64x49x288
        Permute [2, 0, 3, 1, 4]                     Reshape 64x49x3x3x32
        Slice [i] of dimension 0       (3 times)    Slice [i] of dimension 2       (3 times)
        Squeeze [0]                        ->       Squeeze [2]
        64x3x49x32                                  Permute [0, 2, 1, 3] for each user
                                                    64x3x49x32

    The order of the data that the parts share is not worth moving everything for. The Permutes
    left over swap heads and rows, which `MatMulHdimBatchPattern` absorbs.

    - There may be two Permutes, and after them a Reshape that merges two neighbouring dimensions
      (which then follows each new Permute instead). Nothing else uses what lies between.
    - The Slices take one index each of the same dimension, and together all of them; each is
      only used by the Squeeze of that dimension.
    - The first Reshape splits the columns in three, or in two, of a product of any rank. Rows may
      get other dimensions (25x14x14x2304 -> 25x196x3x12x64, 3136x288 -> 64x49x3x1x96). It is one
      of those of the columns that is split.
    - The dimension that is split moves: otherwise the Slices are where they should be.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        for user in users(op.output):
            if isinstance(user, top.ReshapeOp) and (split := _match(op, user)) is not None:
                split.move_before_permutes(rewriter)
                return


@dataclass(frozen=True)
class _Part:
    """One of the parts: the Slice that takes one index of a dimension, and its Squeeze."""

    cut: top.SliceOp
    squeeze: top.SqueezeOp
    axis: int
    index: int


@dataclass(frozen=True)
class _Chain:
    """The Permutes between a Reshape and the Slices, and the merging Reshape after them."""

    reshape: top.ReshapeOp
    permutes: tuple[top.PermuteOp, ...]
    merge: top.ReshapeOp | None

    @property
    def order(self) -> tuple[int, ...]:
        """All Permutes as one."""
        order = tuple(range(len(shape_of(self.reshape.output))))
        for permute in self.permutes:
            order = tuple(order[axis] for axis in ints(permute.order))
        return order

    @property
    def value(self) -> SSAValue:
        """What the Slices read."""
        return self.permutes[-1].output if self.merge is None else self.merge.output

    @property
    def merged(self) -> int | None:
        """The dimension that holds two, if two were merged."""
        if self.merge is None:
            return None
        shapes = zip(shape_of(self.merge.input), shape_of(self.merge.output), strict=False)
        return next((axis for axis, (old, new) in enumerate(shapes) if old != new), None)


@dataclass(frozen=True)
class _SplitChain:
    """A chain whose result is split along `axis`, counted in dimensions before merging."""

    chain: _Chain
    parts: tuple[_Part, ...]
    axis: int

    @property
    def source_axis(self) -> int:
        """The dimension of the first Reshape's result that is split."""
        return self.chain.order[self.axis]

    @property
    def rest(self) -> tuple[int, ...]:
        """The order of the other dimensions of one part."""
        source = self.source_axis
        return tuple(axis - (axis > source) for axis in self.chain.order if axis != source)

    def move_before_permutes(self, rewriter: PatternRewriter) -> None:
        """Cut the first Reshape's result and permute the parts."""
        for part in self.parts:
            squeezed = self._squeezed(part, rewriter)
            for user in users(part.squeeze.output):
                moved = self._permuted(part, squeezed, user)
                rewriter.insert(moved, InsertPoint.before(user))
                places = [
                    i for i, value in enumerate(user.operands) if value is part.squeeze.output
                ]
                for place in places:
                    user.operands[place] = moved[-1].results[0]
                rewriter.notify_op_modified(user)
            rewriter.erase(part.squeeze)
            rewriter.erase(part.cut)
        for op in (self.chain.merge, *reversed(self.chain.permutes)):
            if op is not None:
                rewriter.erase(op)

    def _squeezed(self, part: _Part, rewriter: PatternRewriter) -> top.SqueezeOp:
        """The part with its dimensions in the order of the product."""
        source, axis = self.chain.reshape.output, self.source_axis
        shape = shape_of(source)
        cut = top.SliceOp.make(
            derived_name(part.cut, "_r_new"),
            (source, *part.cut.operands[1:]),
            result_types=[tensor_like(source, (*shape[:axis], 1, *shape[axis + 1 :]))],
            offset=[part.index if i == axis else 0 for i in range(len(shape))],
            ends=[part.index + 1 if i == axis else WHOLE for i in range(len(shape))],
            steps=[1] * len(shape),
            hasparamConvert_axes=[axis],
        )
        squeeze = top.SqueezeOp.make(
            derived_name(part.squeeze, "_r_new"),
            (cut.output,),
            result_types=[tensor_like(source, shape[:axis] + shape[axis + 1 :])],
            axes=[axis],
            is_scalar=part.squeeze.is_scalar,
        )
        rewriter.insert([cut, squeeze], InsertPoint.before(part.cut))
        return squeeze

    def _permuted(
        self, part: _Part, squeezed: top.SqueezeOp, user: Operation
    ) -> Sequence[Operation]:
        """What `user` reads in place of the old part, under the part's name if it is returned."""
        old, new = part.squeeze.output, squeezed.output
        shape = shape_of(new)
        name = derived_name(squeezed, f"_r_permute_for_{derived_name(user, '')}")
        last_name = derived_name(part.squeeze, "") if isinstance(user, ReturnOp) else None
        permute = top.PermuteOp.make(
            name if self.chain.merge is not None else last_name or name,
            (new,),
            result_types=[tensor_like(new, (shape[axis] for axis in self.rest))],
            order=self.rest,
        )
        if self.chain.merge is None:
            return [permute]
        merge = reshape(last_name or f"{name}_reshape", permute.output, shape_of(old))
        return [permute, merge]


def _match(product: top.MatMulOp, first: top.ReshapeOp) -> _SplitChain | None:
    chain = _chain(first)
    if chain is None or not has_shapes(product.output, first.output, chain.value):
        return None
    columns = _columns(shape_of(product.output), shape_of(first.output))
    if columns is None:
        return None
    parts = tuple(_parts(chain.value))
    axes = {part.axis for part in parts}
    if not parts or len(parts) != len(users(chain.value)) or len(axes) != 1:
        return None
    (axis,) = axes
    if any(_squeezed_axes(part.squeeze) != (axis,) for part in parts):
        return None
    if chain.merge is not None:
        if chain.merged is None or not _merges_two(chain.merge) or axis == chain.merged:
            return None
        axis += axis > chain.merged
    found = _SplitChain(chain, parts, axis)
    if found.source_axis == axis or found.source_axis < columns:
        return None
    indices = {part.index for part in parts}
    whole = shape_of(first.output)[found.source_axis]
    return found if len(indices) == len(parts) == whole else None


def _chain(first: top.ReshapeOp) -> _Chain | None:
    """Reshape -> Permute -> (Permute) -> (Reshape), each the only user of the one before."""
    permutes: list[top.PermuteOp] = []
    value = cast(SSAValue, first.output)
    while (permute := sole_user(value, top.PermuteOp)) is not None:
        permutes.append(permute)
        value = permute.output
    if not 1 <= len(permutes) <= 2:
        return None
    return _Chain(first, tuple(permutes), sole_user(value, top.ReshapeOp))


def _parts(value: SSAValue) -> Iterator[_Part]:
    """The Slices of one index that are used by a Squeeze only."""
    for user in users(value):
        if not isinstance(user, top.SliceOp) or not is_static(user):
            continue
        squeeze = sole_user(user.output, top.SqueezeOp)
        whole = shape_of(value)
        changed = [i for i, part in enumerate(user.cuts()) if part != Cut(0, whole[i], 1)]
        if squeeze is None or len(changed) != 1:
            continue
        taken = user.cuts()[changed[0]]
        if taken.count == 1:
            yield _Part(user, squeeze, changed[0], taken.first)


def _squeezed_axes(op: top.SqueezeOp) -> tuple[int, ...]:
    rank = len(shape_of(op.input))
    return tuple(sorted(axis % rank for axis in ints(op.axes)))


def _columns(product: tuple[int, ...], split: tuple[int, ...]) -> int | None:
    """The first of two or three dimensions that a Reshape splits the columns of a product in; rows
    may be seen otherwise."""
    for count in (3, 2):
        if len(split) > count and len(product) > 1 and prod(split[-count:]) == product[-1]:
            return len(split) - count
    return None


def _merges_two(op: top.ReshapeOp) -> bool:
    """Whether a Reshape makes one of two neighbouring dimensions and changes nothing else."""
    old, new = shape_of(op.input), shape_of(op.output)
    if len(new) + 1 != len(old):
        return False
    axis = next((i for i, size in enumerate(new) if size != old[i]), None)
    if axis is None:
        return False
    return new == (*old[:axis], old[axis] * old[axis + 1], *old[axis + 2 :])
