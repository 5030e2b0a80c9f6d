"""The pass `fuse-preprocess`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    ModuleOp,
    TensorType,
    f32,
    f64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.weights import Weights, weights_of
from xdsl_tpu.passes.calibration.ranges import Range, range_of, set_range
from xdsl_tpu.passes.module_state import State, require_state
from xdsl_tpu.passes.tensors import functions, none_of, required_name, shape_of
from xdsl_tpu.passes.types import set_type

BYTE = Range(0.0, 255.0)
"""What the numbers of an image are."""


class Format(NamedTuple):
    """How an image lies in memory: its channels in order, and whether they come last."""

    channels: str
    packed: bool


FORMATS = {
    "RGB_PLANAR": Format("rgb", packed=False),
    "RGB_PACKED": Format("rgb", packed=True),
    "BGR_PLANAR": Format("bgr", packed=False),
    "BGR_PACKED": Format("bgr", packed=True),
    "RGBA_PLANAR": Format("rgba", packed=False),
    "GRAYSCALE": Format("gray", packed=False),
}


@dataclass(frozen=True)
class FusePreprocessPass(ModulePass):
    """Let the network take images as a camera gives them, and prepare them on the chip.

        %0 = Input(%arg0)  // 1x3x224x224        %0 = Input(%arg0) loc("x_raw")  // 1x224x224x3
              {pixel_format = "bgr",        ->   %1 = Permute(%0), channels in order
               mean = ..} loc("x")               %2 = Scale(%1, %scale, %bias) loc("x")

    What the Input's attributes say of preprocessing becomes ops: channels come first and in the
    order of `pixel_format`, an image of `resize_dims` is cut to the middle of the network's size,
    and x becomes (x - mean) * scale. The image is numbers from 0 to 255. `customization_format` is
    how it lies in memory: RGB_PLANAR, RGB_PACKED, BGR_PLANAR, BGR_PACKED, RGBA_PLANAR, GRAYSCALE;
    by default as the network takes it. Inputs that are no images (without `pixel_format`) stay, and
    so do those that need no preparation.
    `mode` follows from the module, and rows are never padded, so `align` must stay false.
    """

    name = "fuse-preprocess"

    mode: str = ""
    customization_format: str = ""
    align: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        if self.align:
            raise TpuError(f"{self.name}: align=true is not supported: rows are not padded")
        if self.customization_format and self.customization_format not in FORMATS:
            raise TpuError(
                f"{self.name}: customization_format {self.customization_format} is not supported; "
                f"these are: {', '.join(FORMATS)}"
            )
        for func in functions(op):
            for entry in [one for one in func.body.block.ops if isinstance(one, top.InputOp)]:
                if entry.pixel_format is not None and len(shape_of(entry.output)) == 4:
                    _Preprocessing(entry, self.customization_format, weights_of(op)).insert(func)
            func.update_function_type()


class _Preprocessing:
    """The ops between an image and one Input, made one behind the other."""

    def __init__(self, entry: top.InputOp, given: str, weights: Weights) -> None:
        self._entry, self._weights = entry, weights
        assert entry.pixel_format is not None
        wanted = entry.pixel_format.data
        self._wanted = {"gray": "gray", "rgba": "rgba"}.get(wanted, wanted)
        layout = None if entry.channel_format is None else entry.channel_format.data
        self._format = FORMATS.get(given) or Format(self._wanted, layout == "nhwc")
        self._name = required_name(entry)
        self._made: list[Operation] = []
        self._range = range_of(entry.output)

    def insert(self, func: FuncOp) -> None:
        """Change the input's type and put the ops behind it."""
        entry, (count, channels, height, width) = self._entry, shape_of(self._entry.output)
        self._check(channels)
        users = list(entry.output.uses)
        sizes = None if entry.resize_dims is None else ints(entry.resize_dims)
        rows, columns = sizes if sizes is not None and len(sizes) == 2 else (height, width)
        if rows < height or columns < width:
            raise TpuError(
                f"fuse-preprocess: input '{self._name}' is {height}x{width}, more than its "
                f"resize_dims {rows}x{columns}"
            )
        planar = (count, len(self._stored()), rows, columns)
        raw = (count, rows, columns, planar[1]) if self._format.packed else planar
        means = _floats(entry.mean, channels, 0.0)
        scales = _floats(entry.scale, channels, 1.0)
        own = planar == (count, channels, height, width) and not self._format.packed
        if own and self._stored() in ("g", self._wanted) and _is_identity(means, scales):
            return
        self._none = none_of(func).results[0]
        set_type(entry.input, TensorType(f32, raw))
        value: SSAValue = set_type(entry.output, TensorType(f32, raw))
        entry.location = name_loc(f"{self._name}_raw")
        done = {"mean": _array([0.0] * channels), "scale": _array([1.0] * channels)}
        entry.attributes = dict(sorted({**entry.attributes, **done}.items()))
        if self._range is not None:
            set_range(value, BYTE)
            value = entry.output
        if self._format.packed:
            value = self._permuted(value, planar)
        value = self._cropped(value, (count, planar[1], height, width))
        value = self._ordered(value)
        last = self._scaled(value, means, scales)
        block = func.body.block
        previous: Operation = entry
        for op in self._made:
            block.insert_op_after(op, previous)
            previous = op
        for use in users:
            use.operation.operands[use.index] = last
        if self._range is not None:
            set_range(last, self._range)

    def _check(self, channels: int) -> None:
        known = "gray" if channels == 1 else self._wanted
        if len(known if known != "gray" else "g") != channels:
            raise TpuError(
                f"fuse-preprocess: input '{self._name}' has {channels} channels, its pixel_format "
                f"is {self._wanted}"
            )
        if (self._format.channels == "gray") != (channels == 1):
            raise TpuError(
                f"fuse-preprocess: input '{self._name}' has {channels} channels; give another "
                "customization_format"
            )

    def _stored(self) -> str:
        return "g" if self._format.channels == "gray" else self._format.channels

    def _add(self, op: Operation) -> SSAValue:
        self._made.append(op)
        if self._range is not None and not isinstance(op, top.WeightOp):
            set_range(op.results[0], BYTE)
        return op.results[0]

    def _permuted(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        kind = TensorType(f32, shape)
        name = f"{self._name}_planar"
        op = top.PermuteOp.make(name, (value,), result_types=[kind], order=(0, 3, 1, 2))
        return self._add(op)

    def _cropped(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The middle of the image."""
        whole = shape_of(value)
        if tuple(whole) == tuple(shape):
            return value
        offset = [(have - want) // 2 for have, want in zip(whole, shape, strict=True)]
        return self._slice(value, offset, shape, f"{self._name}_crop")

    def _ordered(self, value: SSAValue) -> SSAValue:
        """Channels as the network takes them."""
        stored, wanted = self._stored(), self._wanted
        if stored in ("g", wanted):
            return value
        count, _, height, width = shape_of(value)
        parts = [
            self._slice(
                value,
                (0, stored.index(one), 0, 0),
                (count, 1, height, width),
                f"{self._name}_{one}",
            )
            for one in wanted
        ]
        kind = TensorType(f32, (count, len(wanted), height, width))
        name = f"{self._name}_{wanted}"
        return self._add(top.ConcatOp.make(name, parts, result_types=[kind], axis=1))

    def _slice(
        self, value: SSAValue, offset: Sequence[int], shape: Sequence[int], name: str
    ) -> SSAValue:
        none = self._none
        op = top.SliceOp.make(
            name,
            (value, none, none, none),
            result_types=[TensorType(f32, shape)],
            offset=list(offset),
            ends=[begin + size for begin, size in zip(offset, shape, strict=True)],
            steps=[1] * len(shape),
        )
        return self._add(op)

    def _scaled(self, value: SSAValue, means: Sequence[float], scales: Sequence[float]) -> SSAValue:
        factors = np.array(scales, np.float32)
        shifts = (-np.array(means) * np.array(scales)).astype(np.float32)
        weights = [self._weight("scale", factors), self._weight("bias", shifts)]
        kind = TensorType(f32, shape_of(value))
        op = top.ScaleOp.make(self._name, (value, *weights), result_types=[kind])
        return self._add(op)

    def _weight(
        self, what: str, values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
    ) -> SSAValue:
        name = f"{self._name}_preprocess_{what}"
        array = values.reshape(1, -1, 1, 1)
        self._weights[name] = array
        op = top.WeightOp.make(name, (), result_types=[TensorType(f32, array.shape)])
        return self._add(op)


def _is_identity(means: Sequence[float], scales: Sequence[float]) -> bool:
    return not any(means) and all(scale == 1.0 for scale in scales)


def _array(values: Sequence[float]) -> ArrayAttr[FloatAttr]:
    return ArrayAttr([FloatAttr(value, f64) for value in values])


def _floats(attribute: object, count: int, default: float) -> list[float]:
    """One number for each channel."""
    if not isa(attribute, ArrayAttr[FloatAttr]):
        return [default] * count
    values = [one.value.data for one in attribute]
    return values if len(values) == count else [*values, *[default] * count][:count]
