// RUN: tpu-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Every message a tpu op can be refused with.

// The kernel a filter holds must be the declared one.
func.func @f(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x3x3xf32>, %b: none) {
  %0 = "tpu.Conv2D"(%x, %w, %b) {kernel_shape = [5, 5], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>, none) -> tensor<1x4x2x2xf32>
  return
}
// CHECK: filter 4x8x3x3 does not hold a kernel 5x5

// -----

// Two groups of a filter over eight channels need sixteen input channels.
func.func @f(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x3x3xf32>, %b: none) {
  %0 = "tpu.Conv2D"(%x, %w, %b) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0], group = 2 : i64, with_bias = false} : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>, none) -> tensor<1x4x4x4xf32>
  return
}
// CHECK: input 1x8x6x6 does not fit filter 4x8x3x3 in 2 group(s)

// -----

func.func @f(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x3x3xf32>, %b: tensor<5xf32>) {
  %0 = "tpu.Conv2D"(%x, %w, %b) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = true} : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>, tensor<5xf32>) -> tensor<1x4x4x4xf32>
  return
}
// CHECK: bias 5 needs 4 elements

// -----

func.func @f(%x: tensor<8x6xf32>, %w: tensor<4x8x3x3xf32>, %b: none) {
  %0 = "tpu.Conv2D"(%x, %w, %b) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<8x6xf32>, tensor<4x8x3x3xf32>, none) -> tensor<1x4x4x4xf32>
  return
}
// CHECK: input 8x6 must be N, C, H, W or N, C, W

// -----

func.func @f(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x3x3xf32>, %b: none) {
  %0 = "tpu.Conv2D"(%x, %w, %b) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0], inserts = [1], with_bias = false} : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>, none) -> tensor<1x4x4x4xf32>
  return
}
// CHECK: inserts has 1 values for input 1x8x6x6

// -----

func.func @f(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x3x3xf32>, %b: none) {
  %0 = "tpu.Conv2D"(%x, %w, %b) {kernel_shape = [3, 3], strides = [1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>, none) -> tensor<1x4x4x4xf32>
  return
}
// CHECK: strides has 1 values for 2 spatial dimensions

// -----

func.func @f(%x: tensor<1x8x6x6xf32>, %w: tensor<4x8x3x3xf32>, %b: none) {
  %0 = "tpu.Conv2D"(%x, %w, %b) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0], with_bias = false} : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>, none) -> tensor<1x4x4x4xf32>
  return
}
// CHECK: pads has 2 values for 2 spatial dimensions

// -----

// A reordered filter says nothing about spatial sizes, but the window still must fit.
func.func @f(%x: tensor<1x8x6x6xf16>, %w: tensor<1x4x1x288xf16>, %b: none) {
  %0 = "tpu.Conv2D"(%x, %w, %b) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<1x8x6x6xf16>, tensor<1x4x1x288xf16>, none) -> tensor<1x4x6x6xf16>
  return
}
// CHECK: result 0 is declared as 1x4x6x6, but the operands make it 1x4x4x4

// -----

func.func @f(%x: tensor<1x8x2x2xf32>, %w: tensor<4x8x3x3xf32>, %b: none) {
  %0 = "tpu.Conv2D"(%x, %w, %b) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<1x8x2x2xf32>, tensor<4x8x3x3xf32>, none) -> tensor<1x4x4x4xf32>
  return
}
// CHECK: a window over 3 does not fit into 2 elements padded by 0 and 0

// -----

func.func @f(%x: tensor<4x49x32xf16>, %y: tensor<4x49x32xf16>, %n: none) {
  %0 = "tpu.MatMul"(%x, %y, %n, %n, %n) : (tensor<4x49x32xf16>, tensor<4x49x32xf16>, none, none, none) -> tensor<4x49x49xf16>
  return
}
// CHECK: cannot multiply 4x49x32 by 4x49x32: K is 32 and 49

// -----

// Heads are dimension 2 here: 49x32 by 32x49 would fit, 49x32 by 49x32 does not.
func.func @f(%x: tensor<4x49x3x32xf16>, %y: tensor<4x49x3x32xf16>, %n: none) {
  %0 = "tpu.MatMul"(%x, %y, %n, %n, %n) {hdim_is_batch = true} : (tensor<4x49x3x32xf16>, tensor<4x49x3x32xf16>, none, none, none) -> tensor<4x49x3x49xf16>
  return
}
// CHECK: cannot multiply 4x3x49x32 by 4x3x49x32: K is 32 and 49

// -----

func.func @f(%x: tensor<49x32xf16>, %y: tensor<32x49xf16>, %n: none) {
  %0 = "tpu.MatMul"(%x, %y, %n, %n, %n) {hdim_is_batch = true} : (tensor<49x32xf16>, tensor<32x49xf16>, none, none, none) -> tensor<49x49xf16>
  return
}
// CHECK: needs 4-D inputs with hdim_is_batch, not 49x32 and 32x49

// -----

func.func @f(%x: tensor<32xf16>, %y: tensor<32x49xf16>, %n: none) {
  %0 = "tpu.MatMul"(%x, %y, %n, %n, %n) : (tensor<32xf16>, tensor<32x49xf16>, none, none, none) -> tensor<49xf16>
  return
}
// CHECK: needs matrices, not 32 and 32x49

// -----

func.func @f(%x: tensor<49x32xf16>, %y: tensor<48x32xf16>, %b: tensor<32xf16>, %n: none) {
  %0 = "tpu.MatMul"(%x, %y, %b, %n, %n) {right_transpose = true} : (tensor<49x32xf16>, tensor<48x32xf16>, tensor<32xf16>, none, none) -> tensor<49x48xf16>
  return
}
// CHECK: bias 32 needs 48 elements

// -----

func.func @f(%x: tensor<49x32xf16>, %y: tensor<48x32xf16>, %m: tensor<1x1x32xsi32>, %n: none) {
  %0 = "tpu.MatMul"(%x, %y, %n, %m, %n) {right_transpose = true} : (tensor<49x32xf16>, tensor<48x32xf16>, none, tensor<1x1x32xsi32>, none) -> tensor<49x48xf16>
  return
}
// CHECK: multi 1x1x32 needs 48 elements

// -----

func.func @f(%x: tensor<2x49x32xf16>, %y: tensor<3x32x48xf16>, %n: none) {
  %0 = "tpu.MatMul"(%x, %y, %n, %n, %n) : (tensor<2x49x32xf16>, tensor<3x32x48xf16>, none, none, none) -> tensor<2x49x48xf16>
  return
}
// CHECK: cannot broadcast 2 with 3

// -----

func.func @f(%x: tensor<49x32xf16>, %y: tensor<32x48xf16>, %n: none) {
  %0 = "tpu.MatMul"(%x, %y, %n, %n, %n) {dq_type = "INT3"} : (tensor<49x32xf16>, tensor<32x48xf16>, none, none, none) -> tensor<49x48xf16>
  return
}
// CHECK: expected one of "NONE", "F16", "BF16", "INT8", "INT4", "F8E4M3", "F4", "MXF4", got "INT3"

// -----

func.func @f(%x: tensor<2x3xf16>, %y: tensor<2x4xf16>) {
  %0 = "tpu.Add"(%x, %y) : (tensor<2x3xf16>, tensor<2x4xf16>) -> tensor<2x3xf16>
  return
}
// CHECK: cannot broadcast 2x3 with 2x4

// -----

func.func @f(%x: tensor<2x3xf16>, %y: tensor<2x3xf16>) {
  %0 = "tpu.Add"(%x, %y) {multipliers = [1, 2, 3]} : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  return
}
// CHECK: multipliers has 3 values for 2 inputs

// -----

func.func @f(%x: tensor<2x3xf16>) {
  %0 = "tpu.Sub"(%x) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  return
}
// CHECK: needs 2 inputs, not 1

// -----

func.func @f(%x: tensor<2x3xf16>) {
  %0 = "tpu.Div"(%x, %x, %x) : (tensor<2x3xf16>, tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  return
}
// CHECK: needs 2 inputs, not 3

// -----

func.func @f(%x: tensor<2x3xf16>) {
  %0 = "tpu.Mul"(%x, %x) : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<3x2xf16>
  return
}
// CHECK: result 0 is declared as 3x2, but the operands make it 2x3

// -----

func.func @f(%x: tensor<2x3xf16>) {
  %0 = "tpu.Cast"(%x) : (tensor<2x3xf16>) -> tensor<3x2xf32>
  return
}
// CHECK: result 0 is declared as 3x2, but the operands make it 2x3

// -----

func.func @f(%x: tensor<2x3xf16>) {
  %0 = "tpu.Clip"(%x) {min = 6.0 : f64, max = 0.0 : f64} : (tensor<2x3xf16>) -> tensor<2x3xf16>
  return
}
// CHECK: the range from 6.0 to 0.0 is empty

// -----

func.func @f(%x: tensor<2x3xf16>) {
  %0 = "tpu.Active"(%x) {mode = #tpu<round_mode HalfUp>} : (tensor<2x3xf16>) -> tensor<2x3xf16>
  return
}
// CHECK: expected one of TANH, SIGMOID, RELU

// -----

func.func @f(%x: tensor<2x3xsi8>, %t: tensor<1x1x1x128xsi8>) {
  %0 = "tpu.Lut"(%x, %t) : (tensor<2x3xsi8>, tensor<1x1x1x128xsi8>) -> tensor<2x3xsi8>
  return
}
// CHECK: table 1x1x1x128 needs 256 elements

// -----

func.func @f(%x: tensor<1x3x4xf16>, %s: tensor<4xf16>, %b: tensor<3xf16>, %n: none) {
  %0 = "tpu.Scale"(%x, %s, %b, %n) : (tensor<1x3x4xf16>, tensor<4xf16>, tensor<3xf16>, none) -> tensor<1x3x4xf16>
  return
}
// CHECK: scale 4 needs 3 elements

// -----

func.func @f(%x: tensor<2x3xf16>, %n: none) {
  %0 = "tpu.Softmax"(%x, %n, %n, %n, %n, %n) {axis = 2 : si32} : (tensor<2x3xf16>, none, none, none, none, none) -> tensor<2x3xf16>
  return
}
// CHECK: axis 2 is out of range for rank 2

// -----

func.func @f(%x: tensor<2x3x96xf16>, %n: none) {
  %0 = "tpu.LayerNorm"(%x, %n, %n, %n, %n) {axis = 2 : si32, eps = 1.0e-05 : f64, normalized_shape = [3, 96]} : (tensor<2x3x96xf16>, none, none, none, none) -> tensor<2x3x96xf16>
  return
}
// CHECK: normalized_shape is 3x96, but input 2x3x96

// -----

func.func @f(%x: tensor<2x3x96xf16>, %w: tensor<3xf16>, %n: none) {
  %0 = "tpu.LayerNorm"(%x, %w, %n, %n, %n) {axis = 2 : si32, eps = 1.0e-05 : f64, normalized_shape = [96]} : (tensor<2x3x96xf16>, tensor<3xf16>, none, none, none) -> tensor<2x3x96xf16>
  return
}
// CHECK: weight 3 needs 96 elements

// -----

func.func @f(%x: tensor<1x32x4x4xf16>, %n: none) {
  %0 = "tpu.GroupNorm"(%x, %n, %n, %n, %n) {num_groups = 5 : i64, eps = 1.0e-05 : f64} : (tensor<1x32x4x4xf16>, none, none, none, none) -> tensor<1x32x4x4xf16>
  return
}
// CHECK: the channels of 1x32x4x4 do not make 5 groups

// -----

func.func @f(%x: tensor<1x32x4x4xf16>, %g: tensor<32xf16>) {
  %0 = "tpu.RMSNorm"(%x, %g) {eps = 1.0e-05 : f64} : (tensor<1x32x4x4xf16>, tensor<32xf16>) -> tensor<1x32x4x4xf16>
  return
}
// CHECK: gamma 32 needs 4 elements

// -----

func.func @f(%x: tensor<1x32x4x4xf16>) {
  %0 = "tpu.Pool1D"(%x) {kernel_shape = [2], strides = [2], pads = [0, 0], pool_mode = #tpu<pool_mode Max>} : (tensor<1x32x4x4xf16>) -> tensor<1x32x2xf16>
  return
}
// CHECK: input 1x32x4x4 must be N, C and 1 spatial dimension(s)

// -----

func.func @f(%x: tensor<1x32x4x4xf16>) {
  %0 = "tpu.Pool2D"(%x) {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], pool_mode = #tpu<pool_mode Max>, keepdims = false} : (tensor<1x32x4x4xf16>) -> tensor<1x32xf16>
  return
}
// CHECK: keepdims is false but there are 2x2 positions

// -----

func.func @f(%x: tensor<1x32x5x5xf16>) {
  %0 = "tpu.Pool2D"(%x) {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], pool_mode = #tpu<pool_mode Max>, ceil_mode = true} : (tensor<1x32x5x5xf16>) -> tensor<1x32x2x2xf16>
  return
}
// CHECK: result 0 is declared as 1x32x2x2, but the operands make it 1x32x3x3

// -----

func.func @f(%x: tensor<2x3xf16>, %n: none) {
  %0 = "tpu.Reduce"(%x, %n, %n) {axes = [1, -1], keepdims = true, mode = "ReduceMean"} : (tensor<2x3xf16>, none, none) -> tensor<2x1xf16>
  return
}
// CHECK: axes [1, 1] repeat one of them

// -----

func.func @f(%x: tensor<2x3xf16>, %n: none) {
  %0 = "tpu.Reduce"(%x, %n, %n) {axes = [1], keepdims = true, mode = "ReduceMode"} : (tensor<2x3xf16>, none, none) -> tensor<2x1xf16>
  return
}
// CHECK: expected one of "ReduceMin", "ReduceMax", "ReduceMean"

// -----

func.func @f(%x: tensor<2x3xf16>) {
  %0 = "tpu.Reshape"(%x) : (tensor<2x3xf16>) -> tensor<2x4xf16>
  return
}
// CHECK: cannot reshape 2x3 to 2x4

// -----

func.func @f(%x: tensor<2x1x3xf16>) {
  %0 = "tpu.Squeeze"(%x) {axes = [0]} : (tensor<2x1x3xf16>) -> tensor<1x3xf16>
  return
}
// CHECK: axes [0] of 2x1x3 are not all of size 1

// -----

func.func @f(%x: tensor<2x3xf16>) {
  %0 = "tpu.Unsqueeze"(%x) {axes = [1, 3]} : (tensor<2x3xf16>) -> tensor<2x1x3xf16>
  return
}
// CHECK: result 0 is declared as 2x1x3, but the operands make it 2x1x3x1

// -----

func.func @f(%x: tensor<2x3xf16>, %n: none) {
  %0 = "tpu.Permute"(%x, %n) {order = [0, 2]} : (tensor<2x3xf16>, none) -> tensor<2x3xf16>
  return
}
// CHECK: order [0, 2] is no permutation of 2x3

// -----

func.func @f(%x: tensor<1x4x6xf16>) {
  %0 = "tpu.Depth2Space"(%x) {block_h = 2 : i64, block_w = 2 : i64, is_CRD = false, is_inversed = false} : (tensor<1x4x6xf16>) -> tensor<1x1x12xf16>
  return
}
// CHECK: input 1x4x6 must have 4 dimensions

// -----

func.func @f(%x: tensor<1x5x7x7xf16>) {
  %0 = "tpu.Depth2Space"(%x) {block_h = 2 : i64, block_w = 2 : i64, is_CRD = false, is_inversed = true} : (tensor<1x5x7x7xf16>) -> tensor<1x20x3x3xf16>
  return
}
// CHECK: input 1x5x7x7 does not divide into blocks 2 x 2

// -----

func.func @f(%x: tensor<1x5x7x7xf16>) {
  %0 = "tpu.Depth2Space"(%x) {block_h = 0 : i64, block_w = 2 : i64, is_CRD = false, is_inversed = true} : (tensor<1x5x7x7xf16>) -> tensor<1x20x3x3xf16>
  return
}
// CHECK: blocks of 0 x 2 make no sense

// -----

func.func @f(%x: tensor<1x8x8x3xf16>) {
  %0 = "tpu.SwapDimInner"(%x) {offset = [0, 3, 3]} : (tensor<1x8x8x3xf16>) -> tensor<1x8x8x3xf16>
  return
}
// CHECK: offset has 3 values for 1x8x8x3

// -----

func.func @f(%x: tensor<1x8x8x3xf16>) {
  %0 = "tpu.SwapDimInner"(%x) {offset = [0, 8, 0, 0]} : (tensor<1x8x8x3xf16>) -> tensor<1x8x8x3xf16>
  return
}
// CHECK: offset [0, 8, 0, 0] lies outside 1x8x8x3

// -----

func.func @f(%x: tensor<2x8xf16>, %n: none) {
  %0 = "tpu.Slice"(%x, %n, %n, %n, %n) {offset = [0, 2], ends = [2], steps = [1, 1]} : (tensor<2x8xf16>, none, none, none, none) -> tensor<2x6xf16>
  return
}
// CHECK: ends has 1 values for 2x8

// -----

func.func @f(%x: tensor<2x8xf16>, %n: none) {
  %0 = "tpu.Slice"(%x, %n, %n, %n, %n) {offset = [0, 2], ends = [2, 8], steps = [1, 0]} : (tensor<2x8xf16>, none, none, none, none) -> tensor<2x6xf16>
  return
}
// CHECK: a slice cannot have step 0

// -----

func.func @f(%x: tensor<2x8xf16>, %y: tensor<3x8xf16>) {
  %0 = "tpu.Concat"(%x, %y) {axis = 1 : si32} : (tensor<2x8xf16>, tensor<3x8xf16>) -> tensor<2x16xf16>
  return
}
// CHECK: inputs 2x8, 3x8 differ elsewhere than in axis 1

// -----

func.func @f(%x: tensor<2x8xf16>, %y: tensor<2x8x1xf16>) {
  %0 = "tpu.Concat"(%x, %y) {axis = 1 : si32} : (tensor<2x8xf16>, tensor<2x8x1xf16>) -> tensor<2x16xf16>
  return
}
// CHECK: inputs 2x8, 2x8x1 must be of one rank

// -----

func.func @f(%x: tensor<10x8xf16>, %i: tensor<2x3xsi32>, %n: none) {
  %0 = "tpu.Gather"(%x, %i, %n) : (tensor<10x8xf16>, tensor<2x3xsi32>, none) -> tensor<6x8xf16>
  return
}
// CHECK: result 0 is declared as 6x8, but the operands make it 2x3x8

// -----

func.func @f(%x: tensor<1x8x4x4xf16>, %n: none) {
  %0 = "tpu.Interp"(%x, %n, %n) {scale_h = 2.0 : f64, scale_w = 2.0 : f64, mode = #tpu<mode linear>, coord_mode = #tpu<coord_mode half_pixel>} : (tensor<1x8x4x4xf16>, none, none) -> tensor<1x4x8x8xf16>
  return
}
// CHECK: cannot resize 1x8x4x4 to 1x4x8x8

// -----

func.func @f(%x: tensor<8x4xf16>, %n: none) {
  %0 = "tpu.Interp"(%x, %n, %n) {scale_h = 2.0 : f64, scale_w = 2.0 : f64, mode = #tpu<mode linear>, coord_mode = #tpu<coord_mode half_pixel>} : (tensor<8x4xf16>, none, none) -> tensor<16x8xf16>
  return
}
// CHECK: input 8x4 must be N, C, H, W or N, C, W

// -----

func.func @f(%x: tensor<2x8xf16>) {
  %0 = "tpu.Load"(%x) : (tensor<2x8xf16>) -> tensor<2x8xf32>
  return
}
// CHECK: a copy cannot make f32 of f16

// -----

func.func @f(%x: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Relu"(%x) : (tensor<2x8xf16>) -> tensor<2x8xf16>
    "tpu.Yield"(%1) : (tensor<2x8xf16>) -> ()
  }) {nsecs = 1 : i64, hsecs = 1 : i64, dsecs = 1 : i64, wsecs = 1 : i64, csecs = 1 : i64, swpipl_stage_num = 1 : i64, group_type = 0 : i64} : (tensor<2x8xf16>) -> tensor<2x8xf16>
  return %0 : tensor<2x8xf16>
}
// CHECK: tpu.Relu in the body has no ginfo

// -----

func.func @f(%x: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %0 = "tpu.Group"(%x) ({
    "tpu.Yield"(%x) : (tensor<2x8xf16>) -> ()
  }) {nsecs = 1 : i64, hsecs = 0 : i64, dsecs = 1 : i64, wsecs = 1 : i64, csecs = 1 : i64, swpipl_stage_num = 1 : i64, group_type = 0 : i64} : (tensor<2x8xf16>) -> tensor<2x8xf16>
  return %0 : tensor<2x8xf16>
}
// CHECK: hsecs is 0, but must be at least 1

// -----

func.func @f(%x: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %0 = "tpu.Group"(%x) ({
    "tpu.Yield"(%x, %x) : (tensor<2x8xf16>, tensor<2x8xf16>) -> ()
  }) {nsecs = 1 : i64, hsecs = 1 : i64, dsecs = 1 : i64, wsecs = 1 : i64, csecs = 1 : i64, swpipl_stage_num = 1 : i64, group_type = 0 : i64} : (tensor<2x8xf16>) -> tensor<2x8xf16>
  return %0 : tensor<2x8xf16>
}
// CHECK: the body yields (tensor<2x8xf16>, tensor<2x8xf16>), but the results are (tensor<2x8xf16>)

// -----

func.func @f(%x: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Identity"(%x) : (tensor<2x8xf16>) -> tensor<2x8xf16>
  }) {nsecs = 1 : i64, hsecs = 1 : i64, dsecs = 1 : i64, wsecs = 1 : i64, csecs = 1 : i64, swpipl_stage_num = 1 : i64, group_type = 0 : i64} : (tensor<2x8xf16>) -> tensor<2x8xf16>
  return %0 : tensor<2x8xf16>
}
// CHECK: the body must end in a tpu.Yield

// -----

func.func @f(%x: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %0 = "tpu.Group"(%x) ({
    "tpu.Yield"(%x) : (tensor<2x8xf16>) -> ()
  }) {flow = [-1, 3], nsecs = 1 : i64, hsecs = 1 : i64, dsecs = 1 : i64, wsecs = 1 : i64, csecs = 1 : i64, swpipl_stage_num = 1 : i64, group_type = 0 : i64} : (tensor<2x8xf16>) -> tensor<2x8xf16>
  return %0 : tensor<2x8xf16>
}
// CHECK: flow names [3], which no op of the body has as id

// -----

// Two ops of a group cannot both be number 0.
func.func @f(%x: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %0 = "tpu.Group"(%x) ({
    %1 = "tpu.Load"(%x) {ginfo = #tpu.lg<out_addr = 0, out_size = 64, buffer_addr = 0, buffer_size = 0, eu_align = true, can_merge = false, in_hslice_offset = [], n_idx = [0], n_slice = [2], c_idx = [0], c_slice = [8], d_idx = [0], d_slice = [1], h_idx = [0], h_slice = [1], w_idx = [0], w_slice = [1], id = 0, stage = 0, slice_idx = 0, group_type = 0>} : (tensor<2x8xf16>) -> tensor<2x8xf16>
    %2 = "tpu.Relu"(%1) {ginfo = #tpu.lg<out_addr = 64, out_size = 64, buffer_addr = 0, buffer_size = 0, eu_align = true, can_merge = false, in_hslice_offset = [], n_idx = [0], n_slice = [2], c_idx = [0], c_slice = [8], d_idx = [0], d_slice = [1], h_idx = [0], h_slice = [1], w_idx = [0], w_slice = [1], id = 0, stage = 1, slice_idx = 0, group_type = 0>} : (tensor<2x8xf16>) -> tensor<2x8xf16>
    "tpu.Yield"(%2) : (tensor<2x8xf16>) -> ()
  }) {nsecs = 1 : i64, hsecs = 1 : i64, dsecs = 1 : i64, wsecs = 1 : i64, csecs = 1 : i64, swpipl_stage_num = 1 : i64, group_type = 0 : i64} : (tensor<2x8xf16>) -> tensor<2x8xf16>
  return %0 : tensor<2x8xf16>
}
// CHECK: ops of the body share an id: [0, 0]

// -----

// Every slice has a start and a length.
func.func @f(%x: tensor<2x8xf16>) {
  %1 = "tpu.Load"(%x) {ginfo = #tpu.lg<out_addr = 0, out_size = 64, buffer_addr = 0, buffer_size = 0, eu_align = true, can_merge = false, in_hslice_offset = [], n_idx = [0, 1], n_slice = [2], c_idx = [0], c_slice = [8], d_idx = [0], d_slice = [1], h_idx = [0], h_slice = [1], w_idx = [0], w_slice = [1], id = 0, stage = 0, slice_idx = 0, group_type = 0>} : (tensor<2x8xf16>) -> tensor<2x8xf16>
  return
}
// CHECK: n_idx has 2 slices, n_slice 1

// -----

func.func @f(%c: tensor<1xf32>, %x: tensor<2x8xf16>) {
  %0 = "tpu.If"(%c) ({
    "tpu.Yield"(%x) : (tensor<2x8xf16>) -> ()
  }, {
    "tpu.Yield"(%x, %x) : (tensor<2x8xf16>, tensor<2x8xf16>) -> ()
  }) : (tensor<1xf32>) -> tensor<2x8xf16>
  return
}
// CHECK: a branch yields 2 values for 1 results

// -----

func.func @f(%x: tensor<2x8xf16>) {
  "tpu.Yield"(%x) : (tensor<2x8xf16>) -> ()
}
// CHECK: 'tpu.Yield' expects parent op to be one of 'tpu.Group', 'tpu.GroupParallel', 'tpu.CoreParallel', 'tpu.If', 'tpu.Loop'

// -----

func.func @f(%x: tensor<2x!quant.uniform<i8<-200:127>:f32, 0.1>>) {
  return
}
// CHECK: storage range -200:127 does not fit i8, which holds -128:127

// -----

func.func @f(%x: tensor<2x!quant.calibrated<f32<1.0:0.5>>>) {
  return
}
// CHECK: calibrated range is empty: 1.0 > 0.5

// -----

func.func @f(%q: tensor<2x8x2x16xf16>, %m: tensor<2x2x8x8xf16>) {
  %none = "top.None"() : () -> none
  %0 = "tpu.FAttention"(%q, %q, %q, %m, %none) {scale = 1.0 : f64, batch = 2 : i64, q_head = 2 : i64, kv_head = 2 : i64, dim = 16 : i64, mq = 8 : i64, mk = 8 : i64, mask_by_row = true} : (tensor<2x8x2x16xf16>, tensor<2x8x2x16xf16>, tensor<2x8x2x16xf16>, tensor<2x2x8x8xf16>, none) -> tensor<2x8x2x16xf16>
  return
}
// CHECK: a mask by row of shape 2x2x8x8 does not spread over 2x8x1x8

// -----

func.func @f(%q: tensor<2x8x2x16xf16>, %m: tensor<8x8xf16>) {
  %none = "top.None"() : () -> none
  %0 = "tpu.FAttention"(%q, %q, %q, %m, %none) {scale = 1.0 : f64, batch = 2 : i64, q_head = 2 : i64, kv_head = 2 : i64, dim = 16 : i64, mq = 8 : i64, mk = 8 : i64, mask_by_row = true} : (tensor<2x8x2x16xf16>, tensor<2x8x2x16xf16>, tensor<2x8x2x16xf16>, tensor<8x8xf16>, none) -> tensor<2x8x2x16xf16>
  return
}
// CHECK: a mask by row of shape 8x8 does not spread over 2x8x1x8
