// RUN: tpu-opt %s --split-input-file --verify-diagnostics | filecheck %s

// An op that does not verify names itself, its tensor and the shapes that do not fit.

// Attributes: the kind that is expected, or the choices, come with the message.

// CHECK: attribute relu_limit: expected an f64 number, got 1 : i64
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Relu"(%a) {relu_limit = 1 : i64} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: attribute mode: expected one of "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "NotEqual", "And", "Not", "Xor", got "Bigger"
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = "top.Compare"(%a, %b) {mode = "Bigger"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: attribute order: expected a list, each element an integer of type i64, got
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Permute"(%a) {order = [0 : i32, 1 : i32]} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: attribute keep_dims: expected true or false, got 1 : i64
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: none) {
  %r = "top.MatMul"(%a, %b, %c) {keep_dims = 1 : i64} : (tensor<2x3xf32>, tensor<3x2xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: attribute to: expected a string, got 32 : i64
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Cast"(%a) {to = 32 : i64} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: attribute y_zero_point: expected an array<i32: ..>, got
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.QuantizeLinear"(%a) {y_scale = [1.0], y_zero_point = [0]} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: attribute params: expected a list, each element a dictionary, got
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Custom"(%a) {name = "x", params = [1]} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// Results: what is declared must be what the operands give, in number and shape.

// CHECK: result 0 is declared as 3x2, but the operands make it 2x3
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Relu"(%a) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

// CHECK: there are 3 results instead of 2
func.func @f(%a: tensor<4x2xf32>) {
  %r:3 = "top.Split"(%a) {axis = 0 : si32, num = 2 : i64} : (tensor<4x2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// CHECK: there are 1 results instead of 2
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Unpack"(%a) {axis = 0 : si32} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: result 0 would have the impossible shape 2x-1
func.func @f(%a: tensor<2x3xf32>, %b: none) {
  %r = "top.Pad"(%a, %b) {paddings = [0, -2, 0, -2], mode = "constant"} : (tensor<2x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// Ranks and axes.

// CHECK: operand 0 is 2x3x4, but must have rank 4
func.func @f(%a: tensor<2x3x4xf32>) {
  %r = "top.Upsample"(%a) {scale_h = 2 : i64, scale_w = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: operand 0 is 2x3, but must have rank 3 or 4
func.func @f(%a: tensor<2x3xf32>, %b: none) {
  %r = "top.Interp"(%a, %b) {mode = "nearest", coord_mode = "asymmetric"} : (tensor<2x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: axis 2 is out of range for rank 2
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Softmax"(%a) {axis = 2 : si32} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: axes [1, 1] repeat one of them
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Reduce"(%a) {axes = [1, -1], keepdims = true, mode = "ReduceSum"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// Element by element.

// CHECK: cannot broadcast 2x3 with 4x3
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  %r = "top.Add"(%a, %b) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: coeff has 1 values for 2 inputs
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = "top.Add"(%a, %b) {coeff = [1.0]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: there are no inputs
func.func @f() {
  %r = "top.Add"() : () -> tensor<*xf32>
  return
}

// -----

// CHECK: there are 1 inputs instead of 2
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Div"(%a) : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// Convolutions and pools.

// CHECK: filter 6x4x3x3 does not hold a kernel 5x5
func.func @f(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>, %c: none) {
  %r = "top.Conv"(%a, %b, %c) {kernel_shape = [5, 5], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: input 1x4x8x8 does not fit filter 6x3x3x3 in 1 group(s)
func.func @f(%a: tensor<1x4x8x8xf32>, %b: tensor<6x3x3x3xf32>, %c: none) {
  %r = "top.Conv"(%a, %b, %c) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x4x8x8xf32>, tensor<6x3x3x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: bias 5 needs 6 elements, one a channel
func.func @f(%a: tensor<1x4x8x8xf32>, %b: tensor<6x2x3x3xf32>, %c: tensor<5xf32>) {
  %r = "top.Conv"(%a, %b, %c) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0], group = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<5xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: strides has 1 values for 2 spatial dimensions
func.func @f(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>, %c: none) {
  %r = "top.Conv"(%a, %b, %c) {kernel_shape = [3, 3], strides = [1], pads = [0, 0, 0, 0]} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: strides must be positive, not [1, 0]
func.func @f(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>, %c: none) {
  %r = "top.Conv"(%a, %b, %c) {kernel_shape = [3, 3], strides = [1, 0], pads = [0, 0, 0, 0]} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: pads has 2 values for 2 spatial dimensions
func.func @f(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>, %c: none) {
  %r = "top.Conv"(%a, %b, %c) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0]} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: inserts has 1 values for input 1x4x8x8
func.func @f(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>, %c: none) {
  %r = "top.Conv"(%a, %b, %c) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0], inserts = [1]} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: a window over 5 does not fit into 2 elements padded by 1 and 1
func.func @f(%a: tensor<1x4x2x8xf32>, %b: tensor<6x4x5x1xf32>, %c: none) {
  %r = "top.Conv"(%a, %b, %c) {kernel_shape = [5, 1], strides = [1, 1], pads = [1, 0, 1, 0]} : (tensor<1x4x2x8xf32>, tensor<6x4x5x1xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: output_padding has 2 values for kernel 3
func.func @f(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>, %c: none) {
  %r = "top.Deconv"(%a, %b, %c) {kernel_shape = [3], strides = [1], pads = [0, 0], output_padding = [1, 1]} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: keepdims is false but there are 4x4 positions
func.func @f(%a: tensor<1x4x8x8xf32>) {
  %r = "top.MaxPool"(%a) {kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], keepdims = false} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: there is nothing to pool in 1x4x0x8
func.func @f(%a: tensor<1x4x0x8xf32>) {
  %r = "top.AvgPool"(%a) {kernel_shape = [], strides = [], pads = []} : (tensor<1x4x0x8xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: output_size has 1 values for input 1x4x8x8
func.func @f(%a: tensor<1x4x8x8xf32>) {
  %r = "top.AdaptiveAvgPool"(%a) {output_size = [2]} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  return
}

// -----

// Products.

// CHECK: cannot multiply 2x3 by 4x5: K differs
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %c: none) {
  %r = "top.MatMul"(%a, %b, %c) : (tensor<2x3xf32>, tensor<4x5xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: bias 4 needs 5 elements
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<4xf32>) {
  %r = "top.MatMul"(%a, %b, %c) : (tensor<2x3xf32>, tensor<3x5xf32>, tensor<4xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: operand 0 is 2x3x4, but must have rank 4
func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %c: none) {
  %r = "top.MatMul"(%a, %b, %c) {hdim_is_batch = true} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: ab,bc->ac has 2 terms for 1 operands
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Einsum"(%a) {mode = "ab,bc->ac"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: ab,bc->ac: term bc does not fit shape 3
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  %r = "top.Einsum"(%a, %b) {mode = "ab,bc->ac"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: ab,bc->ac: b is both 3 and 4
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  %r = "top.Einsum"(%a, %b) {mode = "ab,bc->ac"} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: ab->ad: d in no operand
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Einsum"(%a) {mode = "ab->ad"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: query 2x3x4, key 2x5x3 and value 2x5x6 do not fit
func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<2x5x3xf32>, %c: tensor<2x5x6xf32>, %d: none) {
  %r = "top.ScaleDotProductAttention"(%a, %b, %c, %d) : (tensor<2x3x4xf32>, tensor<2x5x3xf32>, tensor<2x5x6xf32>, none) -> tensor<*xf32>
  return
}

// -----

// Normalisations.

// CHECK: input 4 has no channel dimension
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: none, %e: none) {
  %r = "top.BatchNorm"(%a, %b, %c, %d, %e) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: operand 2 is 3, but input 1x4x2 has 4 channels
func.func @f(%a: tensor<1x4x2xf32>, %b: tensor<4xf32>, %c: tensor<3xf32>, %d: none, %e: none) {
  %r = "top.BatchNorm"(%a, %b, %c, %d, %e) : (tensor<1x4x2xf32>, tensor<4xf32>, tensor<3xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: normalized_shape is 3x4, input 2x3x4
func.func @f(%a: tensor<2x3x4xf32>, %b: none, %c: none) {
  %r = "top.LayerNorm"(%a, %b, %c) {axis = 2 : si32, eps = 1.0e-5 : f64, normalized_shape = [3, 4]} : (tensor<2x3x4xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: weight 3 does not fit the normalised 4
func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>, %c: none) {
  %r = "top.LayerNorm"(%a, %b, %c) {axis = -1 : si32, eps = 1.0e-5 : f64, normalized_shape = []} : (tensor<2x3x4xf32>, tensor<3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: the channels of 1x4x2 do not make 3 groups
func.func @f(%a: tensor<1x4x2xf32>, %b: none, %c: none) {
  %r = "top.GroupNorm"(%a, %b, %c) {num_groups = 3 : i64, eps = 1.0e-5 : f64} : (tensor<1x4x2xf32>, none, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: bias 2 needs 4 elements
func.func @f(%a: tensor<1x4x2xf32>, %b: tensor<4xf32>, %c: tensor<2xf32>) {
  %r = "top.GroupNorm"(%a, %b, %c) {num_groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<1x4x2xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<*xf32>
  return
}

// -----

// Changes of shape.

// CHECK: cannot reshape 2x3 to 4x2
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Reshape"(%a) {shape = [4, 2]} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: cannot reshape 2x3 to [4, -1]
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Reshape"(%a) {shape = [4, -1]} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: shape [-1, -1] has more than one unknown size
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Reshape"(%a) {shape = [-1, -1]} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: shape [2, 3, 0] copies dimension 2 of 2x3
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Reshape"(%a) {shape = [2, 3, 0]} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: cannot flatten 2x3x4 from 2 to 1
func.func @f(%a: tensor<2x3x4xf32>) {
  %r = "top.Flatten"(%a) {start_dim = 2 : i64, end_dim = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: axes [1] of 1x3 are not all of size 1
func.func @f(%a: tensor<1x3xf32>) {
  %r = "top.Squeeze"(%a) {axes = [1]} : (tensor<1x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: neither tile nor tileT says how often to repeat
func.func @f(%a: tensor<1x3xf32>) {
  %r = "top.Tile"(%a) : (tensor<1x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: a shape cannot be taken in steps of 0
func.func @f(%a: tensor<1x3xf32>) {
  %r = "top.Shape"(%a) {step = 0 : i64} : (tensor<1x3xf32>) -> tensor<*xf32>
  return
}

// -----

// Cutting and joining.

// CHECK: 1 offsets, 2 ends and 1 steps for 1 axes of 4x3
func.func @f(%a: tensor<4x3xf32>, %b: none, %c: none, %d: none) {
  %r = "top.Slice"(%a, %b, %c, %d) {offset = [0], ends = [2, 3], steps = [1]} : (tensor<4x3xf32>, none, none, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: a slice cannot have step 0
func.func @f(%a: tensor<4x3xf32>, %b: none, %c: none, %d: none) {
  %r = "top.Slice"(%a, %b, %c, %d) {offset = [0], ends = [2], steps = [0], axes = [1]} : (tensor<4x3xf32>, none, none, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: split_size has 1 values for num 2
func.func @f(%a: tensor<4x2xf32>) {
  %r:2 = "top.Split"(%a) {axis = 0 : si32, num = 2 : i64, split_size = [4]} : (tensor<4x2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// CHECK: sizes [3, 2] do not add up to 4 of 4x2
func.func @f(%a: tensor<4x2xf32>) {
  %r:2 = "top.Split"(%a) {axis = 0 : si32, num = 2 : i64, split_size = [3, 2]} : (tensor<4x2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// CHECK: inputs 2x3, 3x3 differ elsewhere than in axis 1
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x3xf32>) {
  %r = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: inputs 2x3, 3 differ in rank
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  %r = "top.Concat"(%a, %b) {axis = 0 : si32} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: values_count is 3 and the inputs are 2x3, 2x3
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  %r = "top.Pack"(%a, %b) {axis = 0 : si32, values_count = 3 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: 2 paddings for 2x3, two a dimension needed
func.func @f(%a: tensor<2x3xf32>, %b: none) {
  %r = "top.Pad"(%a, %b) {paddings = [0, 1], mode = "constant"} : (tensor<2x3xf32>, none) -> tensor<*xf32>
  return
}

// -----

// Moving data.

// CHECK: order [0, 0] is no permutation of the axes of 2x3
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.Permute"(%a) {order = [0, 0]} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: 1x6x4x4 does not divide into blocks of 2 x 2
func.func @f(%a: tensor<1x6x4x4xf32>) {
  %r = "top.Depth2Space"(%a) {is_CRD = false, is_inversed = false, block_h = 2 : i64, block_w = 2 : i64} : (tensor<1x6x4x4xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: blocks of 0 x 2 make no sense
func.func @f(%a: tensor<1x6x4x4xf32>) {
  %r = "top.Depth2Space"(%a) {is_CRD = false, is_inversed = true, block_h = 0 : i64, block_w = 2 : i64} : (tensor<1x6x4x4xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: offset has 1 values for 2x3
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.SwapDimInner"(%a) {offset = [1]} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: offset [0, 3] lies outside 2x3
func.func @f(%a: tensor<2x3xf32>) {
  %r = "top.SwapDimInner"(%a) {offset = [0, 3]} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: the channels of 1x4x2 do not make 3 groups
func.func @f(%a: tensor<1x4x2xf32>) {
  %r = "top.ShuffleChannel"(%a) {group = 3 : i64} : (tensor<1x4x2xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: input 4 holds no matrices
func.func @f(%a: tensor<4xf32>) {
  %r = "top.Trilu"(%a) {upper = 1 : si32, diagonal = 0 : si32} : (tensor<4xf32>) -> tensor<*xf32>
  return
}

// -----

// Indices.

// CHECK: indices 2 are not a scalar, but keepdims is false
func.func @f(%a: tensor<4x3xf32>, %b: tensor<2xf32>) {
  %r = "top.Gather"(%a, %b) {keepdims = false} : (tensor<4x3xf32>, tensor<2xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: indices 2 differ in rank from 4x3
func.func @f(%a: tensor<4x3xf32>, %b: tensor<2xf32>) {
  %r = "top.GatherElements"(%a, %b) {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: indices 2x3 do not reach into 4x3
func.func @f(%a: tensor<4x3xf32>, %b: tensor<2x3xf32>) {
  %r = "top.GatherND"(%a, %b) : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: updates 1x3 do not fit indices 2x3
func.func @f(%a: tensor<4x3xf32>, %b: tensor<2x3xf32>, %c: tensor<1x3xf32>) {
  %r = "top.ScatterElements"(%a, %b, %c) {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: indices 2x3 do not reach into 4x3
func.func @f(%a: tensor<4x3xf32>, %b: tensor<2x3xf32>, %c: tensor<1x3xf32>) {
  %r = "top.ScatterND"(%a, %b, %c) : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: updates are 3x3, the indices call for 2x3
func.func @f(%a: tensor<4x3xf32>, %b: tensor<2x1xf32>, %c: tensor<3x3xf32>) {
  %r = "top.ScatterND"(%a, %b, %c) : (tensor<4x3xf32>, tensor<2x1xf32>, tensor<3x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: K is 4, but axis 1 of 4x3 has 3
func.func @f(%a: tensor<4x3xf32>) {
  %r:2 = "top.TopK"(%a) {axis = 1 : i64, K = 4 : i64} : (tensor<4x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// Images, sequences and boxes.

// CHECK: scales [0, 2] must be positive
func.func @f(%a: tensor<1x2x3x4xf32>) {
  %r = "top.Upsample"(%a) {scale_h = 0 : i64, scale_w = 2 : i64} : (tensor<1x2x3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: cannot resize 1x2x3x4 to 0x4
func.func @f(%a: tensor<1x2x3x4xf32>, %b: none) {
  %r = "top.Interp"(%a, %b) {mode = "nearest", coord_mode = "asymmetric", scale_h = 0.1 : f64, scale_w = 1.0 : f64} : (tensor<1x2x3x4xf32>, none) -> tensor<*xf32>
  return
}

// -----

// CHECK: grid 2x3x4x2 does not fit input 1x2x3x4
func.func @f(%a: tensor<1x2x3x4xf32>, %b: tensor<2x3x4x2xf32>) {
  %r = "top.GridSampler"(%a, %b) {mode = 0 : i64, padding_mode = 0 : i64, align_corners = false} : (tensor<1x2x3x4xf32>, tensor<2x3x4x2xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: filter is 1x12x6, needed is 1x15x6
func.func @f(%a: tensor<7x1x6xf32>, %b: tensor<1x12x6xf32>, %c: tensor<1x15x5xf32>, %d: none, %e: none) {
  %r:2 = "top.GRU"(%a, %b, %c, %d, %e) {hidden_size = 5 : i64, bidirectional = false} : (tensor<7x1x6xf32>, tensor<1x12x6xf32>, tensor<1x15x5xf32>, none, none) -> (tensor<*xf32>, tensor<*xf32>)
  return
}

// -----

// CHECK: boxes 1x9x4 and scores 1x3x8 do not fit
func.func @f(%a: tensor<1x9x4xf32>, %b: tensor<1x3x8xf32>) {
  %r = "top.Nms"(%a, %b) {center_point_box = 0 : i64, max_output_size = 5 : i64} : (tensor<1x9x4xf32>, tensor<1x3x8xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: boxes and scores are needed
func.func @f(%a: tensor<1x9x4xf32>) {
  %r = "top.Nms"(%a) {center_point_box = 0 : i64, max_output_size = 5 : i64} : (tensor<1x9x4xf32>) -> tensor<*xf32>
  return
}
