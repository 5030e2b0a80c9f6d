"""For all tests: programs that the compiler makes have no finding, and a busy machine is none."""

import gc
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend import codegen
from xdsl_tpu.backend.checks import check_program
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.program import Program
from xdsl_tpu.tools.garbage import NEW_OBJECTS

# The tools are started hundreds of times: their sources are compiled once, whatever the shell says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_collection_finish() -> None:
    """Modules and the list of tests stay: no collection of garbage walks them again, and garbage is
    collected as rarely as in the tools. It took 7 % of the time."""
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])


@pytest.fixture(scope="session", autouse=True)
def every_program_is_checked() -> Iterator[None]:
    """Whoever generates code, as a test, a tool or a pass, gets a program that was checked."""
    original = codegen.generate

    def generate(module: ModuleOp, weights: Mapping[str, Any], chip: Chip, *more: Any) -> Program:
        program = original(module, weights, chip, *more)
        found = check_program(program, chip)
        assert not found, "\n".join(map(str, found[:5]))
        return program

    with pytest.MonkeyPatch.context() as patch:
        for module in list(sys.modules.values()):
            if vars(module).get("generate") is original:
                patch.setattr(module, "generate", generate)
        yield
