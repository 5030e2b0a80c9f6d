"""Arrays that a run takes."""

from pathlib import Path

import numpy as np
import pytest

from xdsl_tpu.tools.array_files import read_arrays


@pytest.mark.parametrize("name", ["one.npy", "named.npz"])
def test_bfloat16_comes_as_f32(name: str, tmp_path: Path) -> None:
    """Numpy writes such numbers as 2 bytes without a meaning."""
    numbers = np.array([[1.5, -0.0, 3.0 * 2**125], [2.0**-130, np.inf, -7.0]], np.float32)
    narrow = (numbers.view(np.uint32) >> 16).astype(np.uint16).view("V2")
    if name.endswith(".npy"):
        np.save(tmp_path / name, narrow)
    else:
        np.savez(tmp_path / name, x=narrow)
    given = read_arrays(tmp_path / name)
    found = given["x"] if isinstance(given, dict) else given
    assert found.dtype == np.float32
    assert np.array_equal(found, numbers)
