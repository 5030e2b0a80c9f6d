"""Writes weights.npz, the numbers of the weights that the files in the folder above name.

A name says what is in it: ones_1x4, zeros_8, half, or random_4x3x1x1.
"""

import re
import sys
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.weights import Weights

FOLDER = Path(__file__).parent
NAMES = re.compile(
    r'loc\("((?:ones|zeros|random|steps|windows|below|upper|low|high|share)_[\dx]+|half|one|two|minus_three)"\)'
)
NUMBERS = {"half": 0.5, "one": 1.0, "two": 2.0, "minus_three": -3.0}


def numbers(name: str) -> npt.NDArray[np.float32]:
    """The array that a name stands for."""
    if name in NUMBERS:
        return np.array([NUMBERS[name]], dtype=np.float32)
    kind, _, text = name.partition("_")
    shape = tuple(map(int, text.split("x")))
    if kind == "random":
        return np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape, np.float32)
    if kind == "steps":
        return np.arange(1, 1 + 2 * np.prod(shape), 2, dtype=np.float32).reshape(shape)
    if kind == "windows":  # where each tap of a window moving by one looks: taps, places
        return np.add.outer(*map(np.arange, shape)).astype(np.float32)
    if kind in ("low", "high", "share"):  # where lines of twice as many elements lie
        below, share = np.divmod(np.arange(np.prod(shape)), 2)
        above = np.minimum(below + 1, below[-1])
        found = {"low": below, "high": above, "share": share / 2}[kind]
        return found.reshape(shape).astype(np.float32)
    if kind == "below":  # the diagonal
        return np.broadcast_to(np.tri(shape[-1], k=-1, dtype=np.float32), shape).copy()
    if kind == "upper":  # with the diagonal
        return np.broadcast_to(1 - np.tri(shape[-1], k=-1, dtype=np.float32), shape).copy()
    return np.full(shape, kind == "ones", dtype=np.float32)


def main() -> None:
    """Collect the names and write the file."""
    texts = (path.read_text() for path in sorted(FOLDER.parent.glob("*.mlir")))
    names = sorted({name for text in texts for name in NAMES.findall(text)})
    weights = Weights()
    weights.update({name: numbers(name) for name in names})
    weights.save(FOLDER / "weights.npz")
    np.savez_compressed(FOLDER / "large.npz", filters=np.zeros((1024, 128, 3, 3), np.float32))
    print(f"{len(names)} weights", file=sys.stderr)


if __name__ == "__main__":
    main()
