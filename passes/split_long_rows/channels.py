"""Normalisations of images by moments of their rows, each channel in a lane of its own.

Where a group of channels does not fit a lane, its channels lie in many. Mean and variance of the
rows of an image are made where the image is, slice by slice; what is left of them is small.
Moments are combined as by T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a
pairwise algorithm for computing sample variances" (1979), so that no large numbers cancel.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.tpu import ActiveMode
from xdsl_tpu.passes.lowering.context import F32
from xdsl_tpu.passes.lowering.steps import Shape, Steps
from xdsl_tpu.passes.split_long_rows.rows import Rows, in_f32, parameter
from xdsl_tpu.passes.tensors import element_bytes, element_of, shape_of

WIDEST = 1024
"""Elements of a row of an image that is cut into rows here."""

PASSES = 9
"""Over an image in f32, by a norm in one command sequence as by moments of rows."""

MOST_CHANNELS = 4096
"""Beyond, the matrices that average channels would move more than they save."""

Image = tuple[int, int, int, int]


@dataclass(frozen=True)
class ChannelNorm:
    """A normalisation of `groups` groups of channels of an image (n, c, h, w), by position.

    `value` are its elements, however shaped. The channels may be those of several `planes`, one
    behind the other: a group has the same ones of each.
    """

    value: SSAValue
    image: Image
    groups: int
    epsilon: float
    weight: SSAValue
    bias: SSAValue
    planes: int = 1


def image_of(shape: Shape, rows: Rows) -> Image | None:
    """N, C, .. as rows of images that lie one channel to a lane; None where they are too short,
    too long or too many for that to be worth while."""
    n, c, *rest = shape
    size = math.prod(rest)
    if len(rest) == 2:
        h, w = rest
    else:
        w = next(w for w in range(min(size, WIDEST), 0, -1) if size % w == 0)
        h = size // w
    lane_groups = -(-c // rows.chip.lanes)
    if c > MOST_CHANNELS or w == 1 or not rows.fits(32 * w * lane_groups):
        return None
    return n, c, h, w


def pays_off(image: Image, groups: int, element: int, chip: Chip) -> bool:
    """Whether leaving an image on the chip, its channels in their lanes, saves more than what the
    moments of its groups cost.

    `element`: bytes of one. A norm by itself parts the ops around it: the image goes to DDR and
    comes back before it and behind it, of which its neighbours move the rows of channels. It has
    the channels of a group in one lane, which takes long where groups are few. Commands on vectors
    take about as long as those that part groups, but two matrices, in f32, must come that average
    channels and spread what becomes of it, and be multiplied by both moments.
    """
    n, c, h, w = image
    channels = n * -(-c // chip.lanes)
    rows = -(-n * groups // chip.lanes) * (c // groups)
    vectors = PASSES * (rows - channels) * -(-h * w // chip.eu(4))
    there_and_back = 1 / chip.load_bytes_per_cycle + 1 / chip.store_bytes_per_cycle
    short = max(1.0, chip.ddr_row_bytes / (h * w * element))
    saved = math.prod(image) * element * there_and_back * (1 + short) + vectors
    loads = 2 * 4 * groups * c / chip.load_bytes_per_cycle
    products = 2 * n * (-(-groups // chip.lanes) * c + -(-c // chip.lanes) * groups)
    return groups == c or saved >= max(loads, products)


@dataclass(frozen=True)
class ImageRows:
    """Rows that are the images of channels: `value` has their elements, however shaped."""

    value: SSAValue
    image: Image


def rows_of_image(x: SSAValue, outer: int, size: int, rows: Rows) -> ImageRows | None:
    """`outer` rows of `size` as images (1, outer, h, w): those that they were reshaped from.

    None where no such image is worth while (`image_of`).
    """
    value, before = x, x
    while isinstance(before.owner, tpu.ReshapeOp):
        before = before.owner.input
        shape = shape_of(before)
        if len(shape) == 4 and shape[:2] == (1, outer) and shape[2] * shape[3] == size:
            value = before
            break
    image = image_of((1, outer, *(shape_of(value)[2:] if value is not x else (size,))), rows)
    return None if image is None else ImageRows(value, image)


def normalised_lengths(
    do: Steps, given: ImageRows, epsilon: float, scale: float, gamma: SSAValue
) -> SSAValue:
    """x / sqrt(mean of x * x over each channel's image + epsilon) * scale * gamma.

    All is computed in f32, of an image that stays as narrow as it is.
    """
    _, c, h, w = given.image
    one: Image = (1, c, 1, 1)
    x = _narrow_image(do, "x", given)
    length = do.reduced("length_of_rows", x, 3, "ReduceL2")
    length = do.reduced("length", length, 2, "ReduceL2") if h > 1 else length
    mean = do.step("square", tpu.MulOp, [length, length], one)
    mean = do.step("mean", tpu.MulConstOp, [mean], one, const_val=1.0 / (h * w))
    positive = do.step("positive", tpu.AddConstOp, [mean], one, const_val=epsilon)
    factor = do.step("factor", tpu.ActiveOp, [positive], one, mode=ActiveMode.RSQRT)
    if scale != 1:
        factor = do.step("scaled_factor", tpu.MulConstOp, [factor], one, const_val=scale)
    weight = parameter(do, gamma, (1, 1, h, w))
    element = element_of(do.op.results[0]) if weight is None else F32
    value = do.step("normal", tpu.MulOp, [x, factor], given.image, element)
    if weight is None:
        return value
    return do.step("weighted", tpu.MulOp, [value, weight], given.image)


def normalised_channels(do: Steps, norm: ChannelNorm) -> SSAValue:
    """x * a + b in f32, with a and b of every channel from the moments of its group."""
    n, c, h, _ = norm.image
    each: Image = (n, c, 1, 1)
    given = ImageRows(norm.value, norm.image)
    means, squares = _moments(do, given)
    mean = _averaged(do, "mean", _over_rows(do, "mean_of_rows", means), norm)
    mean = _spread(do, "mean_of_group", mean, norm)
    off = do.step("off", tpu.SubOp, [means, mean], (n, c, h, 1))
    off = do.step("off_square", tpu.MulOp, [off, off], (n, c, h, 1))
    squares = do.step("square", tpu.AddOp, [squares, off], (n, c, h, 1))
    variance = _averaged(do, "variance", _over_rows(do, "square_of_rows", squares), norm)
    shape = shape_of(variance)
    positive = do.step("positive", tpu.AddConstOp, [variance], shape, const_val=norm.epsilon)
    factor = do.step("factor", tpu.ActiveOp, [positive], shape, mode=ActiveMode.RSQRT)
    scale = _spread(do, "factor_of_group", factor, norm)
    own = (1, c, 1, 1)
    if (weight := parameter(do, norm.weight, own)) is not None:
        scale = do.step("scale", tpu.MulOp, [scale, weight], each)
    shift = do.step("taken", tpu.MulOp, [mean, scale], each)
    shift = do.step("shift", tpu.MulConstOp, [shift], each, const_val=-1.0)
    if (bias := parameter(do, norm.bias, own)) is not None:
        shift = do.step("shifted", tpu.AddOp, [shift, bias], each)
    # Cast again: the wide image must not have to be kept until the moments are known.
    x = _image(do, "x_again", given)
    value = do.step("weighted", tpu.MulOp, [x, scale], norm.image)
    return do.step("normal", tpu.AddOp, [value, shift], norm.image)


def _narrow_image(do: Steps, label: str, given: ImageRows) -> SSAValue:
    """The image; as it was before a cast, so that it comes and goes in half the bytes."""
    x, cast = given.value, given.value.owner
    if isinstance(cast, tpu.CastOp) and element_bytes(cast.input) < element_bytes(x):
        x = cast.input
    return do.reshaped(f"{label}_rows", x, given.image, element_of(x))


def _image(do: Steps, label: str, given: ImageRows) -> SSAValue:
    """The image in f32; each reader casts it by itself."""
    return in_f32(do, label, _narrow_image(do, label, given), given.image)


def _moments(do: Steps, given: ImageRows) -> tuple[SSAValue, SSAValue]:
    """Mean and variance of every row, (n, c, h, 1)."""
    x, image = _image(do, "x", given), given.image
    means = do.reduced("means", x, 3, "ReduceMean")
    apart = do.step("apart", tpu.SubOp, [x, means], image)
    apart = do.step("apart_square", tpu.MulOp, [apart, apart], image)
    return means, do.reduced("squares", apart, 3, "ReduceMean")


def _over_rows(do: Steps, label: str, value: SSAValue) -> SSAValue:
    return value if shape_of(value)[2] == 1 else do.reduced(label, value, 2, "ReduceMean")


def _averaged(do: Steps, label: str, value: SSAValue, norm: ChannelNorm) -> SSAValue:
    """(n, c, 1, 1) -> (n, groups, 1, 1): a product, which brings lanes together."""
    n, c, _, _ = norm.image
    size = c // norm.groups
    if size == 1:
        return value
    return _pointwise(do, label, value, _members(norm) / np.float32(size), (n, norm.groups, 1, 1))


def _spread(do: Steps, label: str, value: SSAValue, norm: ChannelNorm) -> SSAValue:
    """(n, groups, 1, 1) -> (n, c, 1, 1)."""
    n, c, _, _ = norm.image
    if c == norm.groups:
        return value
    return _pointwise(do, label, value, _members(norm).T, (n, c, 1, 1))


def _members(norm: ChannelNorm) -> npt.NDArray[np.float32]:
    """(groups, c): 1 where a channel is of a group."""
    size = norm.image[1] // (norm.planes * norm.groups)
    of_plane = np.repeat(np.eye(norm.groups, dtype=np.float32), size, axis=1)
    return np.tile(of_plane, norm.planes)


def _pointwise(
    do: Steps, label: str, value: SSAValue, matrix: npt.NDArray[np.float32], shape: Shape
) -> SSAValue:
    weight = do.weight(f"{label}_matrix", matrix.reshape(*matrix.shape, 1, 1))
    return do.step(
        label,
        tpu.Conv2DOp,
        [value, weight],
        shape,
        kernel_shape=[1, 1],
        strides=[1, 1],
        pads=[0] * 4,
        group=1,
        with_bias=False,
    )
