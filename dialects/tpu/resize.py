"""Changing height and width."""

from math import prod

from xdsl.dialects.builtin import Float32Type
from xdsl.irdl import (
    SameVariadicOperandSize,
    attr_def,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, default_attr_def, ints
from xdsl_tpu.dialects.base import RANKED, is_none
from xdsl_tpu.dialects.interfaces.local_gen import (
    Axis,
    GroupType,
    Loop,
    Part,
    Range,
    clipped,
)
from xdsl_tpu.dialects.interfaces.movement import Along, Moved, Movement, Moves, rectangles
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, dims
from xdsl_tpu.dialects.tpu.kinds import RESIZE_COORD_MODE, RESIZE_MODE
from xdsl_tpu.dialects.tpu.local import AlikeEverywhere, LocalAnyShape, TakesMargins, stored_type
from xdsl_tpu.dialects.tpu.op import (
    RANKED_OR_NONE,
    LocalOp,
    TpuOp,
    check_elements,
    declared_shape,
)
from xdsl_tpu.dialects.traits import SupportFuseRelu


@irdl_op_definition
class InterpOp(ShapeInference, LocalOp):
    """N, C, H, W (or N, C, W) resized to nearest or interpolated elements.

    The result type says to which size, `scale_h` and `scale_w` are output over input sizes, and
    `coord_mode` maps output to input coordinates (ONNX operators, Resize).
    """

    name = "tpu.Interp"

    input = operand_def(RANKED)
    shapeT = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    scale_h = attr_def(F64)
    scale_w = attr_def(F64)
    mode = attr_def(RESIZE_MODE)
    coord_mode = attr_def(RESIZE_COORD_MODE)
    ppl_flag = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        source, target = self.shape_of(self.input), declared_shape(self.output)
        if len(source) not in (3, 4):
            raise ShapeError(f"input {dims(source)} must be N, C, H, W or N, C, W")
        if len(target) != len(source) or target[:2] != source[:2]:
            raise ShapeError(f"cannot resize {dims(source)} to {dims(target)}")
        return (target,)


@irdl_op_definition
class ResampleOp(TakesMargins, LocalAnyShape, ShapeInference, LocalOp):
    """Rows, then columns of N, C, H, W, each an old one or between two neighbours.

    Row j of the result lies between rows `rows[j]` and `rows[j] + 1`; `rows` is empty where they
    stay as they are. `shares` holds how far it is from the first, for all rows if `blend_rows`,
    then for all columns if `blend_columns`; what is not blended is the first.

        Resample(1x64x2x8, [0, .25, .75, 1]) {rows = [0, 0, 0, 0], columns = [], blend_rows = true}
    """

    name = "tpu.Resample"

    input = operand_def(RANKED)
    shares = operand_def(RANKED_OR_NONE)
    rows = attr_def(I64_ARRAY)
    columns = attr_def(I64_ARRAY)
    blend_rows = default_attr_def(BOOL, False)
    blend_columns = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input, 4)
        rows, columns = ints(self.rows), ints(self.columns)
        blends = bool(self.blend_rows), bool(self.blend_columns)
        for size, first, blend in zip(shape[2:], (rows, columns), blends, strict=True):
            if first and not 0 <= min(first) <= max(first) < size - blend:
                raise ShapeError(f"elements {min(first)} to {max(first)} of {size} are asked for")
        count = len(rows) * blends[0] + len(columns) * blends[1]
        check_elements(self, "shares", self.shares, count)
        return ((*shape[:2], len(rows) or shape[2], len(columns) or shape[3]),)

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis != "w"

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        """The old rows that new ones lie between."""
        if operand > 0:
            return 0, size
        rows = ints(self.rows)
        if part.axis != "h" or not rows:
            return super().backward(part, operand, size)
        seen = rows[part.start : part.end]
        return clipped(min(seen), max(seen) + 1 + bool(self.blend_rows), size)

    def row_operands(self) -> tuple[int, ...]:
        return (1,)


@irdl_op_definition
class UpsampleOp(Moves, TakesMargins, LocalOp):
    """Every element repeated `scale_h` times down and `scale_w` times across."""

    name = "tpu.Upsample"

    input = operand_def(RANKED)
    indices = operand_def(RANKED_OR_NONE)
    scale_h = attr_def(I64_INT)
    scale_w = attr_def(I64_INT)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    output = result_def(RANKED)

    traits = traits_def(Pure(), SupportFuseRelu())

    def movement(self) -> Movement | None:
        *outer, height, width = self.static_shape(0)
        down, across = self.scale_h.value.data, self.scale_w.value.data
        target = (prod(outer), height, down, width, across)
        source = (prod(outer), height, 1, width, 1)
        steps = (1, 1, 0, 1, 0)
        axes = [(Along(n, at_step=step),) for n, step in zip(target, steps, strict=True)]
        return Movement(prod(target), (Moved(0, rectangles(target, source, axes)),))

    def local_support(self, kind: GroupType) -> str | None:
        rank = len(self.static_shape(0))
        return None if rank == 4 else f"its rank is {rank}; only rank 4 is local"

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        if operand > 0:
            return 0, size
        scale = {"h": self.scale_h, "w": self.scale_w}.get(part.axis)
        if scale is None:
            return super().backward(part, operand, size)
        factor = scale.value.data
        return clipped(part.start // factor, -(-part.end // factor), size)


@irdl_op_definition
class GridSamplerOp(TpuOp):
    """The input sampled at the positions a grid gives, between -1 and 1 a side."""

    name = "tpu.GridSampler"

    input = operand_def(RANKED)
    grid = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    mode = attr_def(I64_INT)
    padding_mode = attr_def(I64_INT)
    align_corners = attr_def(BOOL)
    mean = default_attr_def(F64, 0)
    scale = default_attr_def(F64, 1)
    need_permute = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class SampledSumOp(AlikeEverywhere, LocalAnyShape, ShapeInference, LocalOp):
    """Sums of weighted samples of an image, of each head by itself: rows N, Q, heads * C.

    `pixels` N, `height` * `width`, heads * C are the image; `x` and `y` N, Q, heads * P, in f32,
    are the places in pixels of P samples of each head, and `weights` how much of each counts.
    Between pixels a sample is bilinear; pixels outside are 0. Shares of pixels along x and y,
    those along y times the weight, their products, and sums of these over samples are rounded to
    the element type.
    """

    name = "tpu.SampledSum"

    pixels = operand_def(RANKED)
    x = operand_def(RANKED)
    y = operand_def(RANKED)
    weights = operand_def(RANKED_OR_NONE)
    heads = attr_def(I64_INT)
    height = attr_def(I64_INT)
    width = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        pixels, x = self.shape_of(self.pixels, 3), self.shape_of(self.x, 3)
        others = [self.y] if is_none(self.weights) else [self.y, self.weights]
        if any(self.shape_of(other) != x for other in others):
            raise ShapeError(f"places and weights are not all {dims(x)}")
        heads, size = self.heads.value.data, self.height.value.data * self.width.value.data
        if pixels[:2] != (x[0], size) or heads < 1 or pixels[2] % heads or x[2] % heads:
            raise ShapeError(f"{dims(x)} places of {heads} heads do not fit pixels {dims(pixels)}")
        return ((*x[:2], pixels[2]),)

    def verify_(self) -> None:
        super().verify_()
        if not all(isinstance(stored_type(place), Float32Type) for place in (self.x, self.y)):
            raise VerifyException("places are f32")

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis == "n"

    def cut_alone(self) -> tuple[Loop, ...]:
        return ("n", "c")

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        """All pixels of an image for each of its rows."""
        if part.axis == "n" or (operand and part.axis == "c"):
            return super().backward(part, operand, size)
        return (0, size)

    def loops(self, operand: int) -> tuple[Loop, Loop, Loop, Loop]:
        return ("n", "h", "h", "w") if operand == 0 else ("n", "c", "h", "w")


@irdl_op_definition
class GridSampleInDeformableAttnOp(TpuOp):
    """The sampling and weighting step of deformable attention as one op."""

    name = "tpu.GridSampleInDeformableAttn"

    input_global_addr = var_operand_def(RANKED)
    grid_global_addr = var_operand_def(RANKED)
    attn_global_addr = var_operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    num_grid_samples = attr_def(I64_INT)
    input_dims = attr_def(I64_INT)
    input_n = attr_def(I64_ARRAY)
    input_c = attr_def(I64_ARRAY)
    input_d = attr_def(I64_ARRAY)
    input_h = attr_def(I64_ARRAY)
    input_w = attr_def(I64_ARRAY)
    grid_dout = attr_def(I64_INT)
    grid_hout = attr_def(I64_INT)
    grid_wout = attr_def(I64_INT)
    interp_mode = attr_def(I64_INT)
    padding_mode = attr_def(I64_INT)
    align_corners = attr_def(BOOL)
    output_global_addr = result_def(RANKED)
    irdl_options = (SameVariadicOperandSize(),)

    traits = traits_def(Pure())
