"""One example may not take for ever: a night of them has no limit as a whole."""

import signal
from collections.abc import Generator
from contextlib import contextmanager

SECONDS = 60
"""Of processor time, so that a busy machine does not matter."""


@contextmanager
def limited() -> Generator[None]:
    """Fail when the work inside takes more than SECONDS."""

    def stop(*_: object) -> None:
        raise AssertionError(f"took more than {SECONDS} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
