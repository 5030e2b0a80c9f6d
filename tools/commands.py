"""The console scripts: each imports its tool only when it runs.

Importing a tool takes up to a second, most of the time that a wrong command line costs. Ctrl-C in
that second has nothing to undo, so it ends the process at once: an exception could be caught, or
turned into another, by whatever module is being imported.

Python's warnings are for those who change a tool: users get none, unless they ask (`python -W`,
PYTHONWARNINGS).
"""

import os
import signal
import sys
import warnings
from importlib import import_module
from typing import NoReturn

_EXTRAS = ("safetensors", "tokenizers")
"""Packages that tools for language models need, and others do not."""


def _stop(number: int, frame: object) -> NoReturn:
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, b"error: interrupted\n")
    os._exit(130)


def _run(module: str) -> NoReturn:
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # else whoever started us ignores it
        signal.signal(signal.SIGINT, _stop)
    try:
        main = import_module(f"xdsl_tpu.tools.{module}").main
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        sys.exit(f"error: the package {error.name} is missing: install xdsl-tpu[llm]")
    signal.signal(signal.SIGINT, handler)
    sys.exit(main())


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
    """`tpu-opt`."""
    _run("tpu_opt")


def tpu_run() -> NoReturn:
    """`tpu-run`."""
    _run("tpu_run")


def tpu_sweep() -> NoReturn:
    """`tpu-sweep`."""
    _run("tpu_sweep")
