"""Change the type of a value in place."""

from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.rewriter import Rewriter


def set_type(value: SSAValue, new_type: Attribute) -> SSAValue:
    """Replace `value` by one of another type that keeps its users, its name and its place."""
    changed = Rewriter.replace_value_with_new_type(value, new_type)
    if isinstance(value, BlockArgument) and isinstance(changed, BlockArgument):
        changed.location = value.location
    return changed
