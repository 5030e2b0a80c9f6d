"""What goes wrong with values during a run: where numbers stop being numbers, and why."""

from xdsl_tpu.backend.diagnosis.diagnose import diagnose
from xdsl_tpu.backend.diagnosis.result import Diagnosis, Fault, Range, Row

__all__ = ["Diagnosis", "Fault", "Range", "Row", "diagnose"]
