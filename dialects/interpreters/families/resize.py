"""Resizing and sampling of images."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call
from xdsl_tpu.dialects.interpreters.elements import conform
from xdsl_tpu.dialects.interpreters.numerics.grid_sample import grid_sample
from xdsl_tpu.dialects.interpreters.numerics.resize import interpolate_axis
from xdsl_tpu.dialects.interpreters.registry import Rules

Array = npt.NDArray[Any]


def interpolate(call: Call) -> Array:
    """The last two dimensions (of a rank 3 tensor the last) resized."""
    x, shape = call.tensor(), call.shape()
    mode, coord_mode = call.text("mode"), call.text("coord_mode")
    scales = {-1: call.number("scale_w")}
    if x.ndim > 3:
        scales = {-2: call.number("scale_h"), **scales}
    sizes = _target_sizes(call, x) if shape is None else {a: shape[a] for a in scales}
    for axis, scale in scales.items():
        x = interpolate_axis(x, axis, sizes[axis], scale, mode, coord_mode)
    return x


def _target_sizes(call: Call, x: Array) -> dict[int, int]:
    """Sizes of a result whose type is still open."""
    target = call.optional(1)
    if target is not None:
        return {-2: int(target.reshape(-1)[-2]), -1: int(target.reshape(-1)[-1])}
    scales = {-2: call.number("scale_h"), -1: call.number("scale_w")}
    return {axis: int(x.shape[axis] * scale) for axis, scale in scales.items()}


def sample(call: Call) -> Array:
    """The image read at the positions of the grid."""
    if call.has("need_permute") and (
        call.flag("need_permute") or call.number("mean") or call.number("scale") != 1
    ):
        raise ValueError("a fused permute, mean or scale has no interpreter semantics")
    return grid_sample(
        call.tensor(),
        call.tensor(1),
        mode=call.integer("mode"),
        padding_mode=call.integer("padding_mode"),
        align_corners=call.flag("align_corners"),
    )


def sampled_sum(call: Call) -> Array:
    """Samples of images in rows of pixels times weights P, N, Q, summed over P: N, Q, C."""
    table, grid = call.tensor(), call.tensor(1).transpose(2, 3, 1, 0)
    size = (call.integer("height"), call.integer("width"))
    images = np.arange(len(grid))[:, None, None] * call.integer("image_step")
    pixels = np.arange(size[0] * size[1]).reshape(size) * call.integer("pixel_step")
    rows = table[call.integer("first") + images + pixels]
    samples = grid_sample(
        np.moveaxis(rows, -1, 1),
        grid,
        mode=call.integer("mode"),
        padding_mode=call.integer("padding_mode"),
        align_corners=call.flag("align_corners"),
    )
    weights = np.moveaxis(call.tensor(2), 0, -1)
    return np.moveaxis((samples * weights[:, None]).sum(-1), 1, -1)


def sampled_pixels(call: Call) -> Array:
    """Pixels times how much of each the samples of a row read, head by head."""
    kind = call.op.results[0].type
    pixels, x, y, weights = (call.tensor(0), call.tensor(1), call.tensor(2), call.optional(3))
    heads, height, width = (call.integer(name) for name in ("heads", "height", "width"))
    across, down = (conform(_hats(*one), kind) for one in ((x, width), (y, height)))
    if weights is not None:
        down = conform(down * weights[..., None], kind)
    images, rows, _ = x.shape
    places = (images, rows, heads, -1)
    across, down = across.reshape(*places, width), down.reshape(*places, height)
    total: Array | None = None
    for point in range(across.shape[3]):
        part = conform(down[:, :, :, point, :, None] * across[:, :, :, point, None, :], kind)
        total = part if total is None else conform(total + part, kind)
    assert total is not None
    shares = total.reshape(images, rows, heads, height * width)
    split = pixels.reshape(images, height * width, heads, -1)
    return np.einsum("nqhp,nphc->nqhc", shares, split).reshape(images, rows, -1)


def _hats(places: Array, size: int) -> Array:
    """How much of each of `size` pixels in a row is read at places between them."""
    away = np.abs(places[..., None] - np.arange(size, dtype=np.float32))
    return np.maximum(np.float32(1) - away, np.float32(0))


def resample(call: Call) -> Array:
    """Rows, then columns, picked or blended."""
    x, shares = call.tensor(), call.optional(1)
    left = None if shares is None else shares.reshape(-1)
    for axis, name in ((2, "rows"), (3, "columns")):
        first = call.integers(name)
        if not first:
            continue
        low = np.take(x, first, axis)
        if not call.flag(f"blend_{name}"):
            x = low
            continue
        if left is None or left.size < len(first):
            raise ValueError(f"{name} are blended, but shares are missing")
        part, left = left[: len(first)], left[len(first) :]
        part = part.reshape(-1, *(1,) * (3 - axis))
        x = low + part * (np.take(x, np.add(first, 1), axis) - low)
    return x


RULES: Final[Rules] = {
    interpolate: (top.InterpOp, tpu.InterpOp),
    resample: (tpu.ResampleOp,),
    sampled_sum: (top.SampledSumOp,),
    sampled_pixels: (tpu.SampledSumOp,),
    sample: (top.GridSamplerOp, tpu.GridSamplerOp),
}
