"""How every tool reports what went wrong: one message on standard error and an exit status."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager

from xdsl.utils.exceptions import DiagnosticException, ParseError

from xdsl_tpu.dialects.errors import TpuError

_LONGEST_QUOTED_LINE = 200
"""Source lines of IR run to thousands of characters; longer ones are not shown."""


FAILURE, USAGE, NOT_FINITE, DIFFERENT, FOUND_BAD = 1, 2, 3, 4, 5
"""Exit statuses; a signal's is 128 and its number. `docs/tools.md` says what they mean."""


class UsageError(TpuError):
    """A wrong command line."""


class NotFiniteError(TpuError):
    """The outputs of a run, which are written, have numbers that are NaN or infinite."""


class DifferentError(TpuError):
    """The outputs of a run, which are written, are not as close to the reference as asked for."""


class FoundBadError(TpuError):
    """`tpu-run --find-bad` has found a command whose numbers go wrong."""


class Ended(BaseException):
    """The process was asked to end by a signal; what was begun is cleaned up on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


ENDED = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
"""Signals that ask a process to end, and how the message calls it."""


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


def guarded(
    work: Callable[[], None], *, show_traceback: bool = False, is_filter: bool = False
) -> int:
    """Run `work` and return the exit status; problems become one `error:` message.

    With `show_traceback` the Python traceback precedes the message. The output of a tool that
    `is_filter` is all there is of it: a reader that has seen enough (head, less) is no failure.
    """
    try:
        with _cleaning_up():
            work()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader (head, less) has gone: nothing to report
        _flush_or_discard()
        return 0 if is_filter else 1
    except SystemExit as ended:  # --help and --version, whose reader may have gone, too
        _flush_or_discard()
        return ended.code if isinstance(ended.code, int) else 0
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except Ended as ended:
        print(f"error: {ENDED[signal.Signals(ended.number)]}", file=sys.stderr)
        return 128 + ended.number
    except Exception as error:
        if show_traceback:
            traceback.print_exc()
        print(f"error: {describe(error)}", file=sys.stderr)
        _flush_or_discard()
        return next((s for kind, s in _STATUSES.items() if isinstance(error, kind)), FAILURE)
    return 0


_STATUSES: dict[type[Exception], int] = {
    UsageError: USAGE,
    NotFiniteError: NOT_FINITE,
    DifferentError: DIFFERENT,
    FoundBadError: FOUND_BAD,
}


@contextmanager
def _cleaning_up() -> Generator[None]:
    """Signals that would end the process at once raise `Ended` instead.

    One that whoever started us ignores, or handles, stays as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in ENDED if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, frame: object) -> None:
    raise Ended(number)


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
