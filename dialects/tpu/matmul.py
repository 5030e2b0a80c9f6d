"""Matrix products."""

from abc import ABC
from math import prod

from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type
from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64_ARRAY, I64_ARRAY, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RANKED, is_none
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView, Viewed, lanes_of
from xdsl_tpu.dialects.interfaces.local_gen import Axis, GroupType, Loop, Part, Range
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, dims, known_shape
from xdsl_tpu.dialects.interfaces.shape_rules import broadcast
from xdsl_tpu.dialects.tpu.enums import RequantMode, RoundMode
from xdsl_tpu.dialects.tpu.kinds import DQ_TYPE, REQUANT_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.local import LINE_BYTES, AlikeEverywhere, as_it_stands, stored_type
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, FusedReluOp, LocalOp, TpuOp, check_elements
from xdsl_tpu.dialects.traits import SupportFuseRelu

_NO_LINES = "has several rows in a lane, which only 16-bit products have"


def _transposed(shape: Shape, swap: bool) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if swap else shape


def _swap_heads(shape: Shape) -> Shape:
    return (shape[0], shape[2], shape[1], *shape[3:])


class MatrixProductOp(FusedReluOp, LocalOp, ABC):
    """What a matrix product has behind its left operand, which each op declares itself."""

    right = operand_def(RANKED)
    bias = operand_def(RANKED_OR_NONE)
    multi = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    left_transpose = default_attr_def(BOOL, False)
    right_transpose = default_attr_def(BOOL, False)
    output_transpose = default_attr_def(BOOL, False)
    hdim_is_batch = default_attr_def(BOOL, False)
    keep_dims = default_attr_def(BOOL, True)
    multipliers = default_attr_def(I64_ARRAY, (1,))
    rshifts = default_attr_def(I64_ARRAY, (0,))
    right_zp = default_attr_def(I64_INT, 0)
    input_zp = default_attr_def(I64_INT, 0)
    quant_mode = default_attr_def(REQUANT_MODE, RequantMode.MultiplierShift)
    left_reuse = default_attr_def(I64_INT, 1)
    multi_core = opt_attr_def(BOOL)
    fuse_rq = default_attr_def(BOOL, False)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    output = result_def(RANKED)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class MatMulOp(AlikeEverywhere, LaneView, ShapeInference, MatrixProductOp):
    """Matrix product of the last two dimensions plus bias, then the ReLU if any.

    | value | shape |
    |---|---|
    | input | batch.., M, K (K, M with `left_transpose`) |
    | right | batch.., K, N (N, K with `right_transpose`) |
    | bias | N elements, or none |
    | multi | N multipliers of a quantised op with one scale a column, or none |
    | output | batch.., M, N (N, M with `output_transpose`) |

    Batch dimensions broadcast. `hdim_is_batch` swaps dimensions 1 and 2 of all 4-D values:
    input b, M, h, K and right b, K, h, N give b, M, h, N with b and h as batch. Without
    `keep_dims` all dimensions but N become one. `left_reuse` is 1 when the left matrix may stay
    in local memory over several column tiles.
    """

    name = "tpu.MatMul"

    input = operand_def(RANKED)
    out_scales = opt_attr_def(F64_ARRAY)
    is_lora = default_attr_def(BOOL, False)
    weight_bits = opt_attr_def(I64_INT)
    do_core_parallel = opt_attr_def(BOOL)
    dq_type = default_attr_def(DQ_TYPE, "NONE")
    q_group_size = default_attr_def(I64_INT, 0)
    cal_i8 = opt_attr_def(BOOL)

    def result_shapes(self) -> tuple[Shape, ...]:
        left, right = self.shape_of(self.input), self.shape_of(self.right)
        heads = bool(self.hdim_is_batch)
        if min(len(left), len(right)) < (4 if heads else 2):
            need = "4-D inputs with hdim_is_batch" if heads else "matrices"
            raise ShapeError(f"needs {need}, not {dims(left)} and {dims(right)}")
        if heads:
            left, right = _swap_heads(left), _swap_heads(right)
        shape = self._product(left, right)
        if heads:
            shape = _swap_heads(shape)
        return (shape if self.keep_dims else (prod(shape[:-1]), shape[-1]),)

    def _product(self, left: Shape, right: Shape) -> Shape:
        """batch.., M, N of matrices that lie in the last two dimensions."""
        *batch, rows, inner = _transposed(left, bool(self.left_transpose))
        *other_batch, inner_right, columns = _transposed(right, bool(self.right_transpose))
        if inner != inner_right:
            raise ShapeError(
                f"cannot multiply {dims(left)} by {dims(right)}: K is {inner} and {inner_right}"
            )
        check_elements(self, "bias", self.bias, columns)
        check_elements(self, "multi", self.multi, columns)
        product = (*broadcast(tuple(batch), tuple(other_batch)), rows, columns)
        return _transposed(product, bool(self.output_transpose))

    def local_support(self, kind: GroupType) -> str | None:
        """As the reference of layer groups (section 4) has it, but for the element type.

        The vendor's compiler refuses an f32 left operand; it has no local kernel that multiplies
        f32 matrices well. Ours maps them to convolutions, so they are local like others.
        """
        left, right = self.shape_of(self.input), self.shape_of(self.right)
        if (len(left), len(right)) == (4, 3):
            return None if self._takes_lines() else f"{dims(left)} by {dims(right)} {_NO_LINES}"
        why = _local_product_problem(left, right, bool(self.hdim_is_batch))
        if why is not None:
            return why
        shared = [a == b for a, b in zip(left, right, strict=False)]
        if shared == [True, False, True, True] and not self.right_transpose:
            return f"{dims(left)} by {dims(right)} has only dimension 1 different"
        return None

    def lane_weights(self) -> tuple[int, ...]:
        return (1,)

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis == "n" or (axis == "h" and (bool(self.hdim_is_batch) or self._has_lines()))

    def shares_channels(self, kind: GroupType) -> bool:
        """Rows lie in the lanes."""
        turned = self.left_transpose or self.output_transpose
        return len(self.shape_of(self.input)) > 2 and not turned

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        """A part of the rows needs the whole right matrix."""
        if operand > 0 and self._has_lines():
            return 0, size
        if operand == 0 or (operand == 1 and part.axis != "c"):
            return super().backward(part, operand, size)
        return 0, size

    def loops(self, operand: int) -> tuple[Loop, Loop, Loop, Loop]:
        """Rows of the left matrix are those of the result, columns of the right one its columns;
        the others meet in the sum."""
        if operand > 1 or not self._has_matrices():
            return super().loops(operand)
        if operand == 0:
            return ("n", "k", "h", "c") if self.left_transpose else ("n", "c", "h", "k")
        return ("n", "w", "h", "k") if self.right_transpose else ("n", "k", "h", "w")

    def summed(self) -> int:
        whole = not self._has_matrices() or not isinstance(stored_type(self.input), AnyFloat)
        return 1 if whole else self.shape_of(self.input)[1 if self.left_transpose else 3]

    def cut_alone(self) -> tuple[Loop, ...]:
        return ("n", "c", "w", "k") if self._has_matrices() else super().cut_alone()

    def _has_matrices(self) -> bool:
        """Whether operands are (n, rows, 1, columns), as they are seen when the op is by itself."""
        left, right = self.shape_of(self.input), self.shape_of(self.right)
        return not self.hdim_is_batch and len(left) == len(right) == 4 and left[2] == right[2] == 1

    def split_weights(self) -> tuple[int, ...]:
        left, right = self.shape_of(self.input), self.shape_of(self.right)
        if len(left) != len(right) or len(left) not in (3, 4):
            return ()
        batch = (0, 2) if self.hdim_is_batch else tuple(range(len(left) - 2))
        same = all(left[axis] == right[axis] for axis in batch)
        one = not self.hdim_is_batch and any(left[axis] == 1 for axis in batch)
        return (0, 1) if same and not one else ()

    def row_operands(self) -> tuple[int, ...]:
        return (2,)

    def lanes_wanted(self) -> tuple[Lanes, ...]:
        """Products with one right matrix take any rows together, others those of one matrix."""
        left, right = self.shape_of(self.input), self.shape_of(self.right)
        if self._is_turned() or self.hdim_is_batch:
            return ()
        if prod(right[:-2]) == 1:
            of_one = Lanes(prod(left[:-2]), left[-2])
            return Lanes(1, of_one.rows), of_one
        count = self.own_right()
        return () if count is None else (Lanes(count, prod(left[:-1]) // count),)

    def own_right(self) -> int | None:
        """Right matrices, each of which has the same number of left rows, one behind the other;
        None where a left matrix meets several right ones, or matrices are turned."""
        left, right = self.shape_of(self.input), self.shape_of(self.right)
        if self._is_turned() or self.hdim_is_batch or len(left) < len(right):
            return None
        batch = [1] * (len(left) - len(right)) + list(right[:-2])
        while batch and batch[-1] == 1:
            batch.pop()
        return prod(batch) if [*left[: len(batch)]] == batch else None

    def viewed(self, lanes: Lanes) -> Viewed | None:
        """As (n, M, K) by (n, K, N), where M are the rows of all left matrices that meet the same
        right one, or (n, M, K) by (1, K, N), of which n and M are free; or as (n, c, lines, K) by
        (1, K, N), several rows of a matrix in each lane."""
        left, right = self.shape_of(self.input), self.shape_of(self.right)
        result = known_shape(self.output.type)
        if result is not None and len(left) == len(right) and lanes_of(result) == lanes:
            return as_it_stands(self)
        if self._is_turned() or self.hdim_is_batch:
            return None
        shared = prod(right[:-2]) == 1
        lines, rest = divmod(prod(left[:-1]), lanes.rows)
        if shared and lines > 1 and not rest and self._has_short_elements() and self._is_short():
            shapes = (*lanes, lines, left[-1]), (1, *right[-2:])
            return self._seen(shapes, (*lanes, lines, right[-1]))
        if lanes.rows != prod(left[:-1]):
            return None
        if not shared and lanes not in self.lanes_wanted():
            return None
        images = 1 if shared else lanes.images
        columns = right[-2] if self.right_transpose else right[-1]
        return self._seen(((*lanes, left[-1]), (images, *right[-2:])), (*lanes, columns))

    def _seen(self, matrices: tuple[Shape, Shape], result: Shape) -> Viewed:
        bias = None if is_none(self.bias) else (result[-1],)
        rest = (None,) * (len(self.operands) - 3)
        return Viewed((*matrices, bias, *rest), result, {"keep_dims": BOOL.convert(True)})

    def _has_lines(self) -> bool:
        """Whether a lane holds several rows of the left matrix, one behind the other."""
        return (len(self.shape_of(self.input)), len(self.shape_of(self.right))) == (4, 3)

    def _takes_lines(self) -> bool:
        left, right = self.shape_of(self.input), self.shape_of(self.right)
        turned = self._is_turned() or bool(self.hdim_is_batch)
        return not turned and left[0] == right[0] == 1 and self._has_short_elements()

    def _is_short(self) -> bool:
        """Whether rows of the left matrix are so short that one a lane is slow to move."""
        kind = stored_type(self.input)
        assert isinstance(kind, BFloat16Type | Float16Type)
        return self.shape_of(self.input)[-1] * kind.bitwidth // 8 <= 2 * LINE_BYTES

    def _has_short_elements(self) -> bool:
        """Whether a command may begin at any line of 16-bit elements: f32 is multiplied as images
        of filters."""
        kind = stored_type(self.input)
        return not self.right_transpose and isinstance(kind, BFloat16Type | Float16Type)

    def _is_turned(self) -> bool:
        return bool(self.left_transpose) or bool(self.output_transpose)


def _local_product_problem(left: Shape, right: Shape, heads: bool) -> str | None:
    ranks = (len(left), len(right))
    both = f"{dims(left)} by {dims(right)}"
    if ranks == (3, 3) or (ranks == (4, 4) and heads):
        batch = (0, 2) if heads else (0,)
        if any(left[axis] == 1 < right[axis] for axis in batch):
            return f"{both} uses one left matrix several times"
        return None
    if ranks == (4, 4):
        return f"{both} has its batch in dimensions 0 and 1; it is local in 0 and 2 only"
    if ranks in ((4, 2), (5, 2)):
        if left[1] <= left[-2]:
            return None
        return f"{both} fills the lanes badly: dimension 1 is larger than {left[-2]}"
    return f"{both} has ranks that have no local form"


@irdl_op_definition
class MatMulLutOp(MatrixProductOp):
    """A matrix product whose left side first goes through a look-up table."""

    name = "tpu.MatMulLut"

    input = operand_def(RANKED)
    table = operand_def(RANKED)
    out_f8_scales = opt_attr_def(F64_ARRAY)


@irdl_op_definition
class A16MatMulOp(TpuOp):
    """A 16-bit float matrix times one packed in 4 or 8 bits, scaled group by group.

    What `residual` holds, if it is there, is added to the rounded result.
    """

    name = "tpu.A16MatMul"

    input = operand_def(RANKED)
    weight = operand_def(RANKED)
    scale = operand_def(RANKED_OR_NONE)
    zp = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    residual = opt_operand_def(RANKED)
    weight_bits = attr_def(I64_INT)
    sign = default_attr_def(BOOL, True)
    w_transpose = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 0)
    do_core_parallel = opt_attr_def(BOOL)
    dq_type = default_attr_def(DQ_TYPE, "NONE")
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class Fp8MatMulOp(TpuOp):
    """A matrix product with fp8 weights that share a scale in blocks of `block_size`."""

    name = "tpu.Fp8MatMul"

    input = operand_def(RANKED)
    weight = operand_def(RANKED)
    weight_scale = operand_def(RANKED)
    bias = operand_def(RANKED_OR_NONE)
    weight_transpose = default_attr_def(BOOL, False)
    block_size = default_attr_def(I64_INT, 128)
    output = result_def(RANKED)

    traits = traits_def(Pure())
