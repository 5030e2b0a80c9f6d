"""How every tool reports what went wrong: one message on standard error and exit status 1."""

import os
import sys
import traceback
from collections.abc import Callable

from xdsl.utils.exceptions import DiagnosticException, ParseError

from xdsl_tpu.dialects.errors import TpuError

_LONGEST_QUOTED_LINE = 200
"""Source lines of IR run to thousands of characters; longer ones are not shown."""


class UsageError(TpuError):
    """A wrong command line: exit status 2 instead of 1."""


def describe(error: BaseException) -> str:
    """The error in words for the user, with `file:line:col:` where it is known."""
    match error:
        case ParseError():
            return _describe_parse_error(error)
        case TpuError() | DiagnosticException() | ValueError():
            return str(error).strip()
        case OSError() if error.strerror is not None:
            place = f"{error.filename}: " if error.filename is not None else ""
            return f"{place}{error.strerror.lower()}"
        case MemoryError():
            return f"not enough memory ({error})" if str(error) else "not enough memory"
        case RecursionError():
            return "the input is nested too deeply"
        case _:
            return f"internal error: {type(error).__name__}: {error}"


def guarded(work: Callable[[], None], *, show_traceback: bool = False) -> int:
    """Run `work` and return the exit status; problems become one `error:` message.

    With `show_traceback` the Python traceback precedes the message.
    """
    try:
        work()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader (head, less) has gone: nothing to report
        _flush_or_discard()
        return 1
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        if show_traceback:
            traceback.print_exc()
        print(f"error: {describe(error)}", file=sys.stderr)
        _flush_or_discard()
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _flush_or_discard() -> None:
    """Drop what standard output cannot take: Python would try again, and fail, at its exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _describe_parse_error(error: ParseError) -> str:
    """`file:line:col: message`, followed by the line and a mark when the line is short."""
    span = error.span
    position = span.get_location()
    message = f"{position}: {error.msg.strip()}"
    begin = span.input.get_start_of_line(span.start)
    source = span.input.content[begin : span.input.get_end_of_line(span.start)]
    if not isinstance(source, str) or not 0 < len(source) <= _LONGEST_QUOTED_LINE:
        return message
    before = span.start - begin
    width = max(1, min(span.end - span.start, len(source) - before))
    return f"{message}\n{source}\n{' ' * before}{'^' * width}"
