"""The console scripts: each imports its tool only when it runs, and has read the command line.

Importing a tool takes more than a second, which nobody should wait for who asks for help or has
mistyped an option; the modules of arguments take little. Ctrl-C in that time has nothing to undo,
so it ends the process at once: an exception could be caught, or turned into another, by whatever
module is being imported.

Python's warnings are for those who change a tool: users get none, unless they ask (`python -W`,
PYTHONWARNINGS).
"""

import os
import signal
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import NoReturn

from xdsl_tpu.tools.garbage import lasting

_Run = Callable[[], None]

_EXTRAS = ("safetensors", "tokenizers")
"""Packages that tools for language models need, and others do not."""


def _stop(number: int, frame: object) -> NoReturn:
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, b"error: interrupted\n")
    os._exit(130)


def _run(tool: str) -> NoReturn:
    """Carry out what the process was given. A wrong command line, and `--help`, end in between."""

    def prepared() -> _Run:
        args = import_module(f"xdsl_tpu.tools.{tool}_arguments").arguments(None)
        return partial(import_module(f"xdsl_tpu.tools.{tool}").run, args)

    _start(prepared)


def _start(prepare: Callable[[], _Run]) -> NoReturn:
    """Import and run, with the signals and warnings of the time of each."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # else whoever started us ignores it
        signal.signal(signal.SIGINT, _stop)
    try:
        with lasting():
            run = prepare()
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        sys.exit(f"error: the package {error.name} is missing: install xdsl-tpu[llm]")
    signal.signal(signal.SIGINT, handler)
    sys.exit(run())


def tpu_calibrate() -> NoReturn:
    """`tpu-calibrate`."""
    _run("tpu_calibrate")


def tpu_compile() -> NoReturn:
    """`tpu-compile`."""
    _run("tpu_compile")


def tpu_generate() -> NoReturn:
    """`tpu-generate`."""
    _run("tpu_generate")


def tpu_opt() -> NoReturn:
    """`tpu-opt`, whose passes are options: they are found, not loaded, to read its command line."""
    _start(lambda: import_module("xdsl_tpu.tools.tpu_opt").main)


def tpu_run() -> NoReturn:
    """`tpu-run`."""
    _run("tpu_run")


def tpu_sweep() -> NoReturn:
    """`tpu-sweep`."""
    _run("tpu_sweep")
