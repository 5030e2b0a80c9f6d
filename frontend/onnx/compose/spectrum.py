"""Fourier transforms of the frames of a signal, as a convolution."""

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode


def stft(body: Body) -> None:
    """STFT(signal, step, window, length) -> Conv with the window times cosines and sines.

    The signal (N, samples, 1) is real; the result is (N, frames, bins, 2).
    """
    node, shape = body.node, body.shape(0)
    if len(shape) == 3 and shape[2] != 1:
        raise UnsupportedNode("its signal must be real")
    step = (body.numbers(1, "frame step") or [1])[0]
    window, length = body.value(2), body.numbers(3, "frame length")
    if node.input(2) and window is None:
        raise UnsupportedNode(f"its window ('{node.input(2)}') must be constant")
    if window is None and length is None:
        raise UnsupportedNode("it has neither a window nor a frame length")
    size = length[0] if length else len(np.asarray(window))
    taper = np.ones(size) if window is None else np.asarray(window, np.float64)
    bins = size // 2 + 1 if node.attribute("onesided", 1) else size
    angles = 2 * np.pi * np.outer(np.arange(bins), np.arange(size)) / size
    waves = np.stack([np.cos(angles), -np.sin(angles)]) * taper
    filters = waves.reshape(2 * bins, 1, size).astype(np.float32)
    signal = body.reshape(node.inputs[0], (shape[0], 1, shape[1]))
    frames = (shape[1] - size) // step + 1
    found = body.add("Conv", signal, body.constant(filters), strides=[step])
    parts = body.reshape(found, (shape[0], 2, bins, frames))
    body.transpose(parts, [0, 3, 2, 1], node.output)


COMPOSED: dict[str, Composition] = {"STFT": stft}
