"""Reading and writing by indices, sorting."""

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

from xdsl_tpu.dialects.attrs import BOOL, I32_INT, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp
from xdsl_tpu.dialects.top.enums import NON_ZERO_ORDER
from xdsl_tpu.dialects.top.traits import ScalarProducer


@irdl_op_definition
class GatherOp(NamedOp):
    """Gather slices along an axis by indices."""

    name = "top.Gather"

    input = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    output = result_def(TENSOR)
    keepdims = default_attr_def(BOOL, True)
    axis = default_attr_def(SI32, 0)
    is_scalar = default_attr_def(BOOL, False)
    is_lora = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), ScalarProducer())


@irdl_op_definition
class GatherElementsOp(NamedOp):
    """Elementwise gather along an axis."""

    name = "top.GatherElements"

    input = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = default_attr_def(I64_INT, 2)

    traits = traits_def(Pure())


@irdl_op_definition
class GatherNDOp(NamedOp):
    """N-d gather."""

    name = "top.GatherND"

    input = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    output = result_def(TENSOR)
    indice_dims = opt_attr_def(I64_INT)
    batch_dims = default_attr_def(I64_INT, 0)

    traits = traits_def(Pure())


@irdl_op_definition
class A16GatherOp(NamedOp):
    """Embedding lookup on a quantised (int4/int8/fp8 packed) table with per-group scale,
    output in 16-bit float."""

    name = "top.A16Gather"

    weight = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    zp = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = default_attr_def(SI32, 0)
    keepdims = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 32)
    weight_bits = default_attr_def(I64_INT, 8)

    traits = traits_def(Pure())


@irdl_op_definition
class ScatterElementsOp(NamedOp):
    """Elementwise scatter with optional reduction."""

    name = "top.ScatterElements"

    input = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    updates = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = attr_def(I64_INT)
    reduction = default_attr_def(I64_INT, 0)
    nc_can_split = default_attr_def(BOOL, False)

    traits = traits_def(Pure())


@irdl_op_definition
class ScatterNDOp(NamedOp):
    """N-d scatter with optional reduction."""

    name = "top.ScatterND"

    input_data = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    updates = operand_def(TENSOR)
    output = result_def(TENSOR)
    reduction = default_attr_def(I32_INT, 0)

    traits = traits_def(Pure())


@irdl_op_definition
class IndexPutOp(NamedOp):
    """Write values at indices."""

    name = "top.IndexPut"

    input = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    values = operand_def(TENSOR)
    output = result_def(TENSOR)
    accumulate = default_attr_def(BOOL, False)

    traits = traits_def(Pure())


@irdl_op_definition
class NonZeroOp(NamedOp):
    """Indices of non-zero elements."""

    name = "top.NonZero"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    order = attr_def(NON_ZERO_ORDER)

    traits = traits_def(Pure())


@irdl_op_definition
class TopKOp(NamedOp):
    """K largest/smallest values and indices along an axis."""

    name = "top.TopK"

    input = operand_def(TENSOR)
    kT = opt_operand_def(TENSOR)
    values = result_def(TENSOR_OR_NONE)
    indices = result_def(TENSOR_OR_NONE)
    axis = attr_def(I64_INT)
    K = default_attr_def(I64_INT, -1)
    largest = default_attr_def(BOOL, True)
    sorted = default_attr_def(BOOL, True)
    replace_topk_indices = default_attr_def(BOOL, False)
    use_hau = default_attr_def(BOOL, True)

    traits = traits_def(Pure())


@irdl_op_definition
class SortOp(NamedOp):
    """Sort along an axis (values and indices)."""

    name = "top.Sort"

    input = operand_def(TENSOR)
    values = result_def(TENSOR_OR_NONE)
    indices = result_def(TENSOR)
    axis = attr_def(I64_INT)
    descending = default_attr_def(BOOL, True)

    traits = traits_def(Pure())
