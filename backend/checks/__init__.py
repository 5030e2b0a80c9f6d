"""Finding what a chip would do silently wrong, without running the program on values."""

from xdsl_tpu.backend.checks.check import check_program
from xdsl_tpu.backend.checks.finding import Fault, Finding, Place

__all__ = ["Fault", "Finding", "Place", "check_program"]
