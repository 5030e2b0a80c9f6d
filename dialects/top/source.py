"""Where values come from: inputs, weights and the absent operand."""

from xdsl.irdl import irdl_op_definition, operand_def, opt_attr_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import BOOL, F64_ARRAY, I64_ARRAY, I64_INT, TEXT, default_attr_def
from xdsl_tpu.dialects.base import NONE, RANKED, TENSOR, NamedOp
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.top.abstract import ShapedOp
from xdsl_tpu.dialects.top.enums import (
    CHANNEL_FORMAT,
    PAD_MODE,
    PIXEL_FORMAT,
    PLACE_HOLDER,
    STORE_MODE,
)
from xdsl_tpu.dialects.top.layout import WeightLayout
from xdsl_tpu.dialects.top.traits import OwnResult, StoredValues

PACK_FIELDS = 4
"""Entries of `WeightOp.pack`."""


@irdl_op_definition
class InputOp(ShapedOp):
    """A tensor from outside: the argument of the function, with what to do to an image first.

    Images are resized to `resize_dims`, keeping the aspect ratio with a border of `pad_value`
    or not, and become (x - mean) * scale a channel. Only written down here: the network
    itself takes the preprocessed tensor.
    """

    name = "top.Input"

    input = operand_def(RANKED)
    output = result_def(TENSOR)
    shape_tensor = opt_attr_def(I64_ARRAY)
    do_preprocess = default_attr_def(BOOL, False)
    pixel_format = opt_attr_def(PIXEL_FORMAT)
    channel_format = opt_attr_def(CHANNEL_FORMAT)
    resize_dims = opt_attr_def(I64_ARRAY)
    keep_aspect_ratio = opt_attr_def(BOOL)
    keep_ratio_mode = opt_attr_def(TEXT)
    pad_value = opt_attr_def(I64_INT)
    pad_type = opt_attr_def(PAD_MODE)
    scale = opt_attr_def(F64_ARRAY)
    mean = opt_attr_def(F64_ARRAY)
    customization_format = opt_attr_def(TEXT)
    aligned = opt_attr_def(BOOL)
    yuv_type = opt_attr_def(TEXT)

    def result_shapes(self) -> tuple[Shape, ...]:
        return (self.shape_of(self.input),)


@irdl_op_definition
class WeightOp(NamedOp):
    """A constant tensor, the entry of the weight file under the name of this op.

    Two weights of equal type are still two tensors, so they are never merged. `pack` says where
    a weight is that is stored with others as an image of the lanes; see `packs`.
    """

    name = "top.Weight"

    output = result_def(RANKED)
    scale = opt_attr_def(F64_ARRAY)
    store_mode = opt_attr_def(STORE_MODE)
    allow_split = opt_attr_def(I64_ARRAY)
    indices_idx = opt_attr_def(I64_ARRAY)
    indices_slice = opt_attr_def(I64_ARRAY)
    path = opt_attr_def(TEXT)
    placeholder = opt_attr_def(PLACE_HOLDER)
    do_compress = opt_attr_def(BOOL)
    bias0 = opt_attr_def(I64_INT)
    bias1 = opt_attr_def(I64_INT)
    is_signed = opt_attr_def(BOOL)
    zero_guard = opt_attr_def(BOOL)
    inline_bytes = opt_attr_def(TEXT)
    pack = opt_attr_def(I64_ARRAY)

    traits = traits_def(OwnResult(), StoredValues(), WeightLayout())

    def verify_(self) -> None:
        super().verify_()
        if self.pack is not None and len(self.pack) != PACK_FIELDS:
            raise VerifyException(
                f"pack has {len(self.pack)} entries, it takes number, offset, lane and total bytes"
            )


@irdl_op_definition
class NoneOp(NamedOp):
    """The one value that stands for an absent operand."""

    name = "top.None"

    output = result_def(NONE)

    traits = traits_def(Pure())
