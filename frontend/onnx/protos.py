"""Reading ONNX protocol messages: attributes, tensors and types as Python values."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
from onnx import TensorProto, external_data_helper, helper, numpy_helper

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.onnx.graph import Array, ValueType


def attribute_values(node: onnx.NodeProto) -> dict[str, Any]:
    """Attributes of a node: strings decoded, tensors as arrays, graphs left as they are."""
    return {item.name: _plain(helper.get_attribute_value(item)) for item in node.attribute}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, str | float | int | onnx.GraphProto | onnx.SparseTensorProto):
        return value
    return [_plain(item) for item in list(value)]


def dtype_name(element_type: int) -> str:
    """numpy's (or ml_dtypes') name of an ONNX element type; TpuError for an unknown one."""
    try:
        return np.dtype(helper.tensor_dtype_to_np_dtype(element_type)).name
    except (KeyError, ValueError) as error:
        raise TpuError(f"unknown ONNX element type {element_type}") from error


def element_type(dtype: str) -> int:
    """The ONNX element type called `dtype` by numpy or ml_dtypes."""
    known = cast(Mapping[int, Any], helper.get_all_tensor_dtypes())
    for candidate in known:
        if candidate and np.dtype(helper.tensor_dtype_to_np_dtype(candidate)).name == dtype:
            return candidate
    raise TpuError(f"ONNX has no element type {dtype}")


def type_proto(value: ValueType) -> onnx.TypeProto:
    """The ONNX message for a type."""
    code = _ELEMENT_TYPES.get(value.dtype)
    if code is None:
        code = _ELEMENT_TYPES[value.dtype] = element_type(value.dtype)
    return helper.make_tensor_type_proto(code, value.shape)


_ELEMENT_TYPES: dict[str, int] = {}


UNNAMED = "?"
"""What `dimensions` calls a size that nobody named."""


def dimensions(proto: onnx.TypeProto) -> list[int | str] | None:
    """Dimensions of a tensor type: an int, or the name of a dynamic one; None without a shape.

    Some exporters write -1 for a size that they do not know.
    """
    if not proto.tensor_type.HasField("shape"):
        return None
    return [
        dim.dim_value
        if dim.HasField("dim_value") and dim.dim_value >= 0
        else dim.dim_param or UNNAMED
        for dim in proto.tensor_type.shape.dim
    ]


def static_type(proto: onnx.TypeProto) -> ValueType | None:
    """A tensor type with all dimensions known, else None."""
    dims = dimensions(proto)
    if dims is None or not proto.HasField("tensor_type"):
        return None
    shape = tuple(dim for dim in dims if isinstance(dim, int))
    if len(shape) != len(dims):
        return None
    return ValueType(dtype_name(proto.tensor_type.elem_type), shape)


def negative_size(proto: onnx.TypeProto) -> int | None:
    """A size below 0 that inference found: a window beyond its image, more cut off than there is.

    None where all sizes make sense.
    """
    sizes = (dim.dim_value for dim in proto.tensor_type.shape.dim)
    return next((size for size in sizes if size < 0), None)


def has_data(tensor: TensorProto) -> bool:
    """Whether the values of an initializer are in the model or in a file beside it."""
    if tensor.data_location == TensorProto.EXTERNAL or tensor.HasField("raw_data"):
        return True
    if not all(tensor.dims):
        return True
    fields = (tensor.float_data, tensor.int32_data, tensor.int64_data, tensor.double_data)
    return any(map(len, fields)) or bool(tensor.uint64_data or tensor.string_data)


def tensor_array(tensor: TensorProto, base: Path) -> Array:
    """Values of an initializer; those in a file beside the model (in `base`) are mapped, not read.

    Raises TpuError when that file is missing, too short, or outside of `base`, or when there are
    too few values or too many.
    """
    if tensor.data_location != TensorProto.EXTERNAL:
        try:
            return numpy_helper.to_array(tensor)
        except (ValueError, TypeError) as error:
            raise TpuError(
                f"initializer '{tensor.name}': its data do not make a tensor of "
                f"{list(tensor.dims)} ({error}); export the model again"
            ) from error
    info = external_data_helper.ExternalDataInfo(tensor)
    path = (base / info.location).resolve()
    if not path.is_relative_to(base.resolve()):
        raise TpuError(
            f"initializer '{tensor.name}': its data file {info.location} is outside "
            "of the model's directory"
        )
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    shape = tuple(tensor.dims)
    if not all(shape):
        return np.zeros(shape, dtype)
    try:
        return np.memmap(path, dtype, "r", int(info.offset or 0), shape)
    except (OSError, ValueError) as error:
        raise TpuError(
            f"initializer '{tensor.name}': cannot read {shape} {dtype} from {path}: {error}"
        ) from error
