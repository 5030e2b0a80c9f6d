"""Element types that only OneFlow has."""

from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition


@irdl_attr_definition
class InvalidElementType(ParametrizedAttribute, TypeAttribute):
    """No type: `!oneflow.invalid_element`."""

    name = "oneflow.invalid_element"


@irdl_attr_definition
class CharElementType(ParametrizedAttribute, TypeAttribute):
    """A character: `!oneflow.char_element`."""

    name = "oneflow.char_element"


@irdl_attr_definition
class TensorBufferElementType(ParametrizedAttribute, TypeAttribute):
    """A tensor of any shape: `!oneflow.tensor_buffer_element`."""

    name = "oneflow.tensor_buffer_element"


@irdl_attr_definition
class OFRecordElementType(ParametrizedAttribute, TypeAttribute):
    """A record of a data set: `!oneflow.of_record_element`."""

    name = "oneflow.of_record_element"
