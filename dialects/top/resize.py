"""Resizing and sampling of images."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, is_none
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.top.abstract import FusedReluOp, ShapedOp
from xdsl_tpu.dialects.top.enums import INTERP_COORD_MODE, INTERP_MODE
from xdsl_tpu.dialects.top.layout import ChannelFirst
from xdsl_tpu.dialects.top.traits import SupportFuseRelu


@irdl_op_definition
class UpsampleOp(ShapedOp, FusedReluOp):
    """Every position of N, C, H, W becomes a block of scale_h x scale_w equal ones."""

    name = "top.Upsample"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    scale_h = attr_def(I64_INT)
    scale_w = attr_def(I64_INT)

    traits = traits_def(Pure(), SupportFuseRelu(), ChannelFirst())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, scales = self.shape_of(self.input, 4), (self.scale_h, self.scale_w)
        factors = [scale.value.data for scale in scales]
        if min(factors) < 1:
            raise ShapeError(f"scales {factors} must be positive")
        return ((*shape[:2], shape[2] * factors[0], shape[3] * factors[1]),)


@irdl_op_definition
class InterpOp(ShapedOp):
    """Resizing of N, C, H, W (or N, C, W), to the nearest or to interpolated elements.

    The new spatial sizes are the constant operand `target_shape`, or where that is none each
    old size times `scale_h` or `scale_w` rounded down. `coord_mode` tells which input
    coordinate belongs to an output one (ONNX operators, Resize).
    """

    name = "top.Interp"

    input = operand_def(TENSOR)
    target_shape = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    mode = attr_def(INTERP_MODE)
    coord_mode = attr_def(INTERP_COORD_MODE)
    scale_h = default_attr_def(F64, -1.0)
    scale_w = default_attr_def(F64, -1.0)

    traits = traits_def(Pure(), ChannelFirst())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input, 3, 4)
        if not is_none(self.target_shape):
            sizes = tuple(int(size) for size in self.constant_operand(1))
        else:
            sizes = self._scaled(shape)
        if len(sizes) != len(shape) - 2 or min(sizes) < 1:
            raise ShapeError(f"cannot resize {dims(shape)} to {dims(sizes)}")
        return ((*shape[:2], *sizes),)

    def resolve(self) -> None:
        """Write the scales out that a `target_shape` stands for."""
        shape, (target,) = self.shape_of(self.input), self.result_shapes()
        if is_none(self.target_shape):
            return
        self.scale_w = F64.encode(target[-1] / shape[-1])
        self.scale_h = F64.encode(target[-2] / shape[-2] if len(shape) == 4 else 1.0)

    def _scaled(self, shape: Shape) -> Shape:
        scales = (self.scale_h.value.data, self.scale_w.value.data)[4 - len(shape) :]
        # A scale made by dividing two sizes may fall just short of giving the size back.
        return tuple(
            int(size * scale + 1e-6) for size, scale in zip(shape[2:], scales, strict=True)
        )


@irdl_op_definition
class GridSamplerOp(ShapedOp):
    """The input N, C, spatial at the positions that `grid` N, new spatial, rank holds.

    Positions go from -1 to 1 over the input; `mode` 0 is bilinear, 1 nearest and 2 bicubic;
    `padding_mode` 0 is zeros, 1 border, 2 reflection (ONNX operators, GridSample).
    """

    name = "top.GridSampler"

    input = operand_def(TENSOR)
    grid = operand_def(TENSOR)
    output = result_def(TENSOR)
    mode = attr_def(I64_INT)
    padding_mode = attr_def(I64_INT)
    align_corners = attr_def(BOOL)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, grid = self.shape_of(self.input, 4, 5), self.shape_of(self.grid, 4, 5)
        if len(grid) != len(shape) or grid[0] != shape[0] or grid[-1] != len(shape) - 2:
            raise ShapeError(f"grid {dims(grid)} does not fit input {dims(shape)}")
        return ((*shape[:2], *grid[1:-1]),)


@irdl_op_definition
class SampledSumOp(ShapedOp):
    """The sum of weighted samples of images whose pixels are rows of a table: queries N, Q, C.

    Pixel y, x of image n, `height` times `width`, is row `first` + n `image_step` + (y `width` + x)
    `pixel_step` of `table` R, C. `grid` 2, P, N, Q holds P positions x, y of each query and
    `weights` P, N, Q how much of each counts; the other attributes are those of `GridSampler`. It
    is the step of deformable attention for one image (Deformable DETR, arXiv 2010.04159, eq. 2).
    """

    name = "top.SampledSum"

    table = operand_def(TENSOR)
    grid = operand_def(TENSOR)
    weights = operand_def(TENSOR)
    output = result_def(TENSOR)
    height = attr_def(I64_INT)
    width = attr_def(I64_INT)
    first = default_attr_def(I64_INT, 0)
    image_step = attr_def(I64_INT)
    pixel_step = default_attr_def(I64_INT, 1)
    mode = attr_def(I64_INT)
    padding_mode = attr_def(I64_INT)
    align_corners = attr_def(BOOL)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        table, grid = self.shape_of(self.table, 2), self.shape_of(self.grid, 4)
        weights = self.shape_of(self.weights, 3)
        if grid[0] != 2:
            raise ShapeError(f"grid {dims(grid)} must have two coordinates a position")
        if weights != grid[1:]:
            raise ShapeError(f"weights {dims(weights)} do not fit grid {dims(grid)}")
        sizes = (self.height, self.width)
        starts = (self.first, self.image_step, self.pixel_step)
        if min(one.value.data for one in sizes) < 1 or min(one.value.data for one in starts) < 0:
            raise ShapeError("height and width must be positive, first and steps not negative")
        if (last := self.last_row(grid[2])) >= table[0]:
            raise ShapeError(f"row {last} is read of table {dims(table)}")
        return ((*grid[2:], table[1]),)

    def last_row(self, images: int) -> int:
        """The highest row of the table that holds a pixel."""
        pixels = self.height.value.data * self.width.value.data
        turns = (images - 1) * self.image_step.value.data
        return self.first.value.data + turns + (pixels - 1) * self.pixel_step.value.data
