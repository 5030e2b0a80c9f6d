"""Products with weights packed in few bits, in blocks along the rows of a transposed matrix."""

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.graph import Array
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode


def matmul_n_bits(body: Body) -> None:
    """MatMulNBits(x, packed, scales, zeros, -, bias) -> MatMul(x, weights) + bias.

    The weights are constants [K, N]: (integer - zero) scale, a zero and a scale for each block.
    """
    node = body.node
    packed, scales, zeros = (body.value(index) for index in (1, 2, 3))
    if packed is None or scales is None or (node.input(3) and zeros is None) or node.input(4):
        raise UnsupportedNode("its weights must be constant, and blocks in order")
    weights = _weights(node.attributes, packed, scales, zeros)
    matrix = body.constant(np.ascontiguousarray(weights.T.astype(scales.dtype)))
    bias = node.input(5)
    product = body.add("MatMul", node.inputs[0], matrix, output="" if bias else node.output)
    if bias:
        body.add("Add", product, bias, output=node.output)


def _weights(options: dict[str, int], packed: Array, scales: Array, zeros: Array | None) -> Array:
    """The matrix [N, K] in float32."""
    columns, depth = options["N"], options["K"]
    bits, block = options.get("bits", 4), options["block_size"]
    blocks = -(-depth // block)
    numbers = _unpacked(packed.reshape(columns, -1), bits).reshape(columns, blocks, block)
    middle: Array = np.full((columns, blocks), float(1 << (bits - 1)), np.float32)
    if zeros is not None and zeros.dtype == np.uint8:
        middle = _unpacked(zeros.reshape(columns, -1), bits)[:, :blocks]
    elif zeros is not None:
        middle = zeros.reshape(columns, blocks).astype(np.float32)
    scale = scales.reshape(columns, blocks).astype(np.float32)
    matrix = (numbers - middle[..., None]) * scale[..., None]
    return matrix.reshape(columns, -1)[:, :depth]


def _unpacked(data: Array, bits: int) -> Array:
    """Numbers of a row's bytes in float32, those in low bits first."""
    if bits not in (2, 4, 8):
        raise UnsupportedNode(f"weights of {bits} bits are not supported")
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    numbers = (data[..., None] >> shifts) & np.uint8((1 << bits) - 1)
    return numbers.reshape(*data.shape[:-1], -1).astype(np.float32)


COMPOSED: dict[str, Composition] = {"MatMulNBits": matmul_n_bits}
