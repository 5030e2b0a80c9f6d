"""Verifying a module so that a message names the op it is about."""

from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.names import name_of


def verify(module: ModuleOp, what: str) -> None:
    """Verify a module called `what`; raises VerifyException naming the op that is wrong."""
    try:
        module.verify()
    except VerifyException as error:
        blame(module, error, what)


def blame(module: ModuleOp, error: VerifyException, what: str) -> NoReturn:
    """Raise the verifier's error again, naming the operation it came from."""
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as own:
            name = name_of(op)
            place = "" if name is None and isinstance(op.location, UnknownLoc) else f' "{name}"'
            raise VerifyException(f"{what} is wrong: '{op.name}'{place}: {own}") from error
    raise error
