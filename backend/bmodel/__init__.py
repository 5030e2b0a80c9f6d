"""bmodel files, written and read."""

from xdsl_tpu.backend.bmodel.container import write_bmodel, write_bmodels
from xdsl_tpu.backend.bmodel.reader import Bmodel, read_bmodel

__all__ = ["Bmodel", "read_bmodel", "write_bmodel", "write_bmodels"]
