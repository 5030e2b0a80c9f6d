"""How each tpu op becomes commands: one file per op family, one line per op here."""

from collections.abc import Callable

from xdsl.ir import Operation

from xdsl_tpu.backend.kernels.support import KernelContext

Kernel = Callable[[KernelContext, Operation], None]

KERNELS: dict[str, str] = {
    "tpu.Active": "activation:active",
    "tpu.Add": "elementwise:layer",
    "tpu.AddConst": "elementwise:layer",
    "tpu.Cast": "elementwise:layer",
    "tpu.Clip": "elementwise:layer",
    "tpu.Compare": "selection:compare",
    "tpu.CompareConst": "selection:compare_const",
    "tpu.Concat": "shape:concat",
    "tpu.Conv2D": "by_type:conv2d",
    "tpu.Depth2Space": "shape:depth_to_space",
    "tpu.Div": "elementwise:layer",
    "tpu.Gather": "index:gather",
    "tpu.GroupNorm": "group_norm:group_norm",
    "tpu.InstanceNorm": "group_norm:instance_norm",
    "tpu.LayerNorm": "norm:layer_norm",
    "tpu.LeakyRelu": "elementwise:layer",
    "tpu.LogicalAnd": "selection:logical_and",
    "tpu.Lut": "int8.lookup:lookup",
    "tpu.MaskedFill": "selection:masked_fill",
    "tpu.MatMul": "matmul:matmul",
    "tpu.Max": "elementwise:layer",
    "tpu.MaxConst": "elementwise:layer",
    "tpu.Min": "elementwise:layer",
    "tpu.MinConst": "elementwise:layer",
    "tpu.Mul": "elementwise:layer",
    "tpu.MulConst": "elementwise:layer",
    "tpu.MulShift": "elementwise:layer",
    "tpu.PReluOp": "elementwise:layer",
    "tpu.Pad": "shape:pad",
    "tpu.Permute": "shape:permute",
    "tpu.PixelNorm": "norm:pixel_norm",
    "tpu.Pool1D": "pool:pool",
    "tpu.Pool2D": "pool:pool",
    "tpu.RMSNorm": "norm:rms_norm",
    "tpu.Reciprocal": "elementwise:layer",
    "tpu.Reduce": "reduce:reduce",
    "tpu.Relu": "elementwise:layer",
    "tpu.RequantInt": "elementwise:layer",
    "tpu.Reshape": "shape:reshape",
    "tpu.Scale": "scale:scale",
    "tpu.ScatterND": "index:scatter_rows",
    "tpu.Slice": "shape:slice_",
    "tpu.Softmax": "softmax:softmax",
    "tpu.Squeeze": "shape:reshape",
    "tpu.Sub": "elementwise:layer",
    "tpu.SubConst": "elementwise:layer",
    "tpu.SwapDimInner": "shape:swap_dim_inner",
    "tpu.Tile": "repeat:tile",
    "tpu.Unsqueeze": "shape:reshape",
    "tpu.Upsample": "upsample:upsample",
    "tpu.Where": "selection:select",
}
"""IR op name -> "module:function" under `xdsl_tpu.backend.kernels`."""
