"""Fewer collections while a network is compiled."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

NEW_OBJECTS = 100_000
"""Objects made between two collections of new ones. Python's 700 suit programs that keep little;
here most of what is made stays, and each collection of everything walks the whole IR."""


@contextmanager
def rare_collections() -> Generator[None]:
    """Collect cyclic garbage, of which erased ops are most, less often within the `with` block."""
    young, *older = gc.get_threshold()
    if young:  # 0: the caller wants none at all
        gc.set_threshold(max(young, NEW_OBJECTS), *older)
    try:
        yield
    finally:
        gc.set_threshold(young, *older)


@contextmanager
def lasting() -> Generator[None]:
    """For a process that keeps all that is made within the `with` block, such as its modules:
    nothing is collected there, and no later collection walks it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
            gc.freeze()
