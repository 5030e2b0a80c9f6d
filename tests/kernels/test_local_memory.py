"""Free parts of local memory: what fits, and what needs none."""

import pytest

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.dialects.errors import DoesNotFit

CHIP = load_chip()


def test_what_needs_nothing_fits_where_nothing_is_free() -> None:
    """Operands that a product takes as they lie want no scratch, and a full memory has none."""
    memory = LocalMemory(CHIP, [])
    assert memory.holds([0, 0])
    assert memory.take(0) == 0
    assert not memory.holds([0, 1])
    with pytest.raises(DoesNotFit):
        memory.take(1)


def test_buffers_lie_side_by_side() -> None:
    memory = LocalMemory(CHIP, [(64, 256)], reserve=[(512, 1024)])
    assert memory.holds([64, 100])
    assert not memory.holds([64, 64, 65])
    assert (memory.take(64), memory.take(100)) == (64, 128)
    assert memory.find(1) is None
    assert memory.widen()
    assert memory.take(512) == 512
    assert not memory.widen()
