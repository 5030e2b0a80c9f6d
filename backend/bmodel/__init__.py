"""bmodel files, written and read."""

from xdsl_tpu.backend.bmodel.container import read_bmodel, write_bmodel

__all__ = ["read_bmodel", "write_bmodel"]
