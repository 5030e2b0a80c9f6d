"""Errors as exceptions: whatever a tool would print as one message is a TpuError with that text."""

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.utils.exceptions import DiagnosticException, ParseError

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.errors import describe

_OF_INPUT = (DiagnosticException, ParseError, OSError)
"""What wrong input raises besides TpuError; anything else is a fault here and stays what it is."""


@contextmanager
def told() -> Generator[None]:
    """Raise what is wrong with the input as a TpuError with the text that the tools print."""
    try:
        yield
    except TpuError:
        raise
    except _OF_INPUT as error:
        raise TpuError(describe(error)) from error
