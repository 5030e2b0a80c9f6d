"""bmodel files, written and read."""

from xdsl_tpu.backend.bmodel.container import write_bmodel
from xdsl_tpu.backend.bmodel.reader import read_bmodel

__all__ = ["read_bmodel", "write_bmodel"]
