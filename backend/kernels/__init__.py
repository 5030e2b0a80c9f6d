"""How each tpu op becomes commands: one file per op family, one line per op here."""

from collections.abc import Callable

from xdsl.ir import Operation

from xdsl_tpu.backend.kernels.support import KernelContext

Kernel = Callable[[KernelContext, Operation], None]

KERNELS: dict[str, str] = {
    "tpu.Active": "activation:active",
    "tpu.Add": "elementwise:add",
    "tpu.AddConst": "elementwise:add_const",
    "tpu.Cast": "elementwise:cast",
    "tpu.Clip": "elementwise:clip",
    "tpu.Concat": "shape:concat",
    "tpu.Conv2D": "conv:conv2d",
    "tpu.Depth2Space": "shape:depth_to_space",
    "tpu.Div": "elementwise:div",
    "tpu.LayerNorm": "norm:layer_norm",
    "tpu.LeakyRelu": "elementwise:leaky_relu",
    "tpu.MatMul": "matmul:matmul",
    "tpu.Max": "elementwise:maximum",
    "tpu.MaxConst": "elementwise:max_const",
    "tpu.Min": "elementwise:minimum",
    "tpu.MinConst": "elementwise:min_const",
    "tpu.Mul": "elementwise:mul",
    "tpu.MulConst": "elementwise:mul_const",
    "tpu.Pad": "shape:pad",
    "tpu.Permute": "shape:permute",
    "tpu.Pool1D": "pool:pool",
    "tpu.Pool2D": "pool:pool",
    "tpu.Reciprocal": "elementwise:reciprocal",
    "tpu.Reduce": "reduce:reduce",
    "tpu.Relu": "elementwise:relu",
    "tpu.Reshape": "shape:reshape",
    "tpu.Slice": "shape:slice_",
    "tpu.Softmax": "softmax:softmax",
    "tpu.Squeeze": "shape:reshape",
    "tpu.Sub": "elementwise:sub",
    "tpu.SubConst": "elementwise:sub_const",
    "tpu.SwapDimInner": "shape:swap_dim_inner",
    "tpu.Unsqueeze": "shape:reshape",
}
"""IR op name -> "module:function" under `xdsl_tpu.backend.kernels`."""
