// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Reshape, Permute, Squeeze: what cancels goes.

// Only the last shape counts.
func.func @reshapes(%arg_x: tensor<4x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x6xf32>) -> tensor<4x6xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [24]} : (tensor<4x6xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Reshape"(%a) {shape = [2, 12]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @reshapes
// CHECK: %1 = "top.Reshape"(%0){{.*}}shape = [2, 12]{{.*}}-> tensor<2x12xf32>
// CHECK-NEXT: return %1 : tensor<2x12xf32>

// -----

// The first Reshape stays for its other user.
func.func @reshape_back(%arg_x: tensor<4x6xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<4x6xf32>) -> tensor<4x6xf32> loc("x")
  %s = "top.Abs"(%x) : (tensor<4x6xf32>) -> tensor<*xf32> loc("s")
  %a = "top.Reshape"(%s) {shape = [24]} : (tensor<*xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Reshape"(%a) {shape = [4, 6]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Sin"(%b) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %a, %y : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @reshape_back
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}-> tensor<24xf32>
// CHECK-NEXT: %3 = "top.Sin"(%1){{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: return %2, %3 : tensor<24xf32>, tensor<4x6xf32>

// -----

// Flatten is a Reshape.
func.func @flatten(%arg_x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("x")
  %y = "top.Flatten"(%x) {start_dim = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @flatten
// CHECK: %1 = "top.Reshape"(%0){{.*}}shape = [2, 12]{{.*}}-> tensor<2x12xf32>
// CHECK-NEXT: return %1 : tensor<2x12xf32>

// -----

// The leading 1 around the Add is of no use.
func.func @leading_one(%arg_x: tensor<8x3x5x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<8x3x5x5xf32>) -> tensor<8x3x5x5xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x8x1x5x5xf32> loc("random_1x8x1x5x5")
  %a = "top.Reshape"(%x) {shape = [1, 8, 3, 5, 5]} : (tensor<8x3x5x5xf32>) -> tensor<*xf32> loc("a")
  %s = "top.Add"(%a, %w) : (tensor<*xf32>, tensor<1x8x1x5x5xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Reshape"(%s) {shape = [8, 3, 5, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @leading_one
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<8x1x5x5xf32>
// CHECK-NEXT: %2 = "top.Add"(%0, %1){{.*}}-> tensor<8x3x5x5xf32>
// CHECK-NEXT: return %2 : tensor<8x3x5x5xf32>

// -----

// The Reshape moves in front of the Add.
func.func @reshape_before_layer_norm(%arg_x: tensor<1x4x4x6xf32>, %arg_z: tensor<1x4x4x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32> loc("z")
  %s = "top.Add"(%x, %z) : (tensor<1x4x4x6xf32>, tensor<1x4x4x6xf32>) -> tensor<*xf32> loc("s")
  %r = "top.Reshape"(%s) {shape = [1, 16, 6]} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  %y = "top.LayerNorm"(%r, %none, %none) {axis = -1 : si32, eps = 1.0e-5, normalized_shape = []} : (tensor<*xf32>, none, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @reshape_before_layer_norm
// CHECK: %3 = "top.Reshape"(%1){{.*}}-> tensor<1x16x6xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%2){{.*}}-> tensor<1x16x6xf32>
// CHECK-NEXT: %5 = "top.Add"(%3, %4){{.*}}-> tensor<1x16x6xf32>
// CHECK-NEXT: %6 = "top.LayerNorm"(%5, %0, %0){{.*}}axis = 2 : si32{{.*}}-> tensor<1x16x6xf32>
// CHECK-NEXT: return %6 : tensor<1x16x6xf32>

// -----

// Softmax is not worth it.
func.func @reshape_before_softmax(%arg_x: tensor<1x4x4x6xf32>, %arg_z: tensor<1x4x4x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32> loc("z")
  %s = "top.Add"(%x, %z) : (tensor<1x4x4x6xf32>, tensor<1x4x4x6xf32>) -> tensor<*xf32> loc("s")
  %r = "top.Reshape"(%s) {shape = [1, 16, 6]} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  %y = "top.Softmax"(%r) {axis = -1 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @reshape_before_softmax
// CHECK: %2 = "top.Add"(%0, %1){{.*}}-> tensor<1x4x4x6xf32>
// CHECK-NEXT: %3 = "top.Reshape"(%2){{.*}}shape = [1, 16, 6]{{.*}}-> tensor<1x16x6xf32>
// CHECK-NEXT: %4 = "top.Softmax"(%3){{.*}}axis = 2 : si32{{.*}}-> tensor<1x16x6xf32>
// CHECK-NEXT: return %4 : tensor<1x16x6xf32>

// -----

// Only dimensions of size 1 move.
func.func @permute_of_ones(%arg_x: tensor<1x6x1x1xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x6x1x1xf32>) -> tensor<1x6x1x1xf32> loc("x")
  %y = "top.Permute"(%x) {order = [0, 2, 3, 1]} : (tensor<1x6x1x1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @permute_of_ones
// CHECK: %1 = "top.Reshape"(%0){{.*}}-> tensor<1x1x1x6xf32>
// CHECK-NEXT: return %1 : tensor<1x1x1x6xf32>

// -----

// There and back.
func.func @inverse_permutes(%arg_x: tensor<2x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> loc("x")
  %a = "top.Permute"(%x) {order = [0, 2, 3, 1]} : (tensor<2x3x4x5xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 3, 1, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Abs"(%b) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @inverse_permutes
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<2x3x4x5xf32>
// CHECK-NEXT: return %1 : tensor<2x3x4x5xf32>

// -----

// Twice the same is not back.
func.func @equal_permutes(%arg_x: tensor<2x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> loc("x")
  %a = "top.Permute"(%x) {order = [0, 2, 3, 1]} : (tensor<2x3x4x5xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Permute"(%a) {order = [0, 2, 3, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @equal_permutes
// CHECK: %1 = "top.Permute"(%0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x4x5x3xf32>
// CHECK-NEXT: %2 = "top.Permute"(%1){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x5x3x4xf32>
// CHECK-NEXT: return %2 : tensor<2x5x3x4xf32>

// -----

// NCHW to NHWC, H and W merged, and back.
func.func @inverse_across_reshape(%arg_x: tensor<2x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> loc("x")
  %a = "top.Permute"(%x) {order = [0, 2, 3, 1]} : (tensor<2x3x4x5xf32>) -> tensor<*xf32> loc("a")
  %r = "top.Reshape"(%a) {shape = [2, 20, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  %y = "top.Permute"(%r) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @inverse_across_reshape
// CHECK: %1 = "top.Reshape"(%0){{.*}}-> tensor<2x3x20xf32>
// CHECK-NEXT: return %1 : tensor<2x3x20xf32>

// -----

// The Reshape splits the dimension the Permute has moved.
func.func @reshape_that_mixes(%arg_x: tensor<2x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> loc("x")
  %a = "top.Permute"(%x) {order = [0, 2, 3, 1]} : (tensor<2x3x4x5xf32>) -> tensor<*xf32> loc("a")
  %r = "top.Reshape"(%a) {shape = [2, 15, 4]} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  %y = "top.Permute"(%r) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @reshape_that_mixes
// CHECK: %1 = "top.Permute"(%0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x4x5x3xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}shape = [2, 15, 4]{{.*}}-> tensor<2x15x4xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x4x15xf32>
// CHECK-NEXT: return %3 : tensor<2x4x15xf32>

// -----

// Two steps of at most four dimensions, with runs as long as possible.
func.func @five_dimensions(%arg_x: tensor<4x5x3x2x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x5x3x2x6xf32>) -> tensor<4x5x3x2x6xf32> loc("x")
  %y = "top.Permute"(%x) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @five_dimensions
// CHECK: %1 = "top.Permute"(%0){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x6xf32>
// CHECK-NEXT: %2 = "top.Permute"(%1){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x6xf32>
// CHECK-NEXT: return %2 : tensor<3x4x2x5x6xf32>

// -----

// Channels become blocks of pixels.
func.func @pixel_shuffle(%arg_x: tensor<1x12x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x12x4x5xf32>) -> tensor<1x12x4x5xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 3, 2, 2, 4, 5]} : (tensor<1x12x4x5xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 1, 4, 2, 5, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Reshape"(%b) {shape = [1, 3, 8, 10]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @pixel_shuffle
// CHECK: %1 = "top.Depth2Space"(%0){{.*}}block_h = 2 : i64{{.*}}is_CRD = true{{.*}}-> tensor<1x3x8x10xf32>
// CHECK-NEXT: return %1 : tensor<1x3x8x10xf32>

// -----

// There and back.
func.func @squeezes(%arg_x: tensor<4x1x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32> loc("x")
  %s = "top.Abs"(%x) : (tensor<4x1x6xf32>) -> tensor<*xf32> loc("s")
  %a = "top.Squeeze"(%s) {axes = [1]} : (tensor<*xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Unsqueeze"(%a) {axes = [1]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Sin"(%b) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @squeezes
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<4x1x6xf32>
// CHECK-NEXT: %2 = "top.Sin"(%1){{.*}}-> tensor<4x1x6xf32>
// CHECK-NEXT: return %2 : tensor<4x1x6xf32>

// -----

// Another place.
func.func @unsqueeze_elsewhere(%arg_x: tensor<4x1x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32> loc("x")
  %a = "top.Squeeze"(%x) {axes = [1]} : (tensor<4x1x6xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Unsqueeze"(%a) {axes = [0]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @unsqueeze_elsewhere
// CHECK: %1 = "top.Squeeze"(%0){{.*}}axes = [1]{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: %2 = "top.Unsqueeze"(%1){{.*}}axes = [0]{{.*}}-> tensor<1x4x6xf32>
// CHECK-NEXT: return %2 : tensor<1x4x6xf32>

// -----

// Two dimensions can be rotated at once.
func.func @rotations(%arg_x: tensor<1x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32> loc("x")
  %a = "top.SwapDimInner"(%x) {offset = [0, 1, 0, 0]} : (tensor<1x3x4x5xf32>) -> tensor<*xf32> loc("a")
  %y = "top.SwapDimInner"(%a) {offset = [0, 0, 2, 0]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @rotations
// CHECK: %1 = "top.SwapDimInner"(%0){{.*}}offset = [0, 1, 2, 0]{{.*}}-> tensor<1x3x4x5xf32>
// CHECK-NEXT: return %1 : tensor<1x3x4x5xf32>

// -----

// But not three.
func.func @three_rotations(%arg_x: tensor<1x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32> loc("x")
  %a = "top.SwapDimInner"(%x) {offset = [0, 1, 1, 0]} : (tensor<1x3x4x5xf32>) -> tensor<*xf32> loc("a")
  %y = "top.SwapDimInner"(%a) {offset = [0, 0, 0, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @three_rotations
// CHECK: %1 = "top.SwapDimInner"(%0){{.*}}offset = [0, 1, 1, 0]{{.*}}-> tensor<1x3x4x5xf32>
// CHECK-NEXT: %2 = "top.SwapDimInner"(%1){{.*}}offset = [0, 0, 0, 2]{{.*}}-> tensor<1x3x4x5xf32>
// CHECK-NEXT: return %2 : tensor<1x3x4x5xf32>

// -----

// The first Permute is there for something else anyway.
func.func @inverse_permute_used(%arg_x: tensor<2x3x4x5xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> loc("x")
  %a = "top.Permute"(%x) {order = [0, 2, 3, 1]} : (tensor<2x3x4x5xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 3, 1, 2]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Abs"(%b) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  %z = "top.Abs"(%a) : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @inverse_permute_used
// CHECK: %1 = "top.Permute"(%0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x4x5x3xf32>
// CHECK-NEXT: %2 = "top.Permute"(%1){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x3x4x5xf32>
// CHECK-NEXT: %3 = "top.Abs"(%2){{.*}}-> tensor<2x3x4x5xf32>
// CHECK-NEXT: %4 = "top.Abs"(%1){{.*}}-> tensor<2x4x5x3xf32>
// CHECK-NEXT: return %3, %4

// -----

// Seven dimensions are left alone, even where two steps would do.
func.func @seven_dimensions(%arg_x: tensor<1x1x4x5x3x2x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x1x4x5x3x2x6xf32>) -> tensor<1x1x4x5x3x2x6xf32> loc("x")
  %y = "top.Permute"(%x) {order = [0, 1, 4, 2, 5, 3, 6]} : (tensor<1x1x4x5x3x2x6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @seven_dimensions
// CHECK: %1 = "top.Permute"(%0){{.*}}order = [0, 1, 4, 2, 5, 3, 6]{{.*}}-> tensor<1x1x3x4x2x5x6xf32>
// CHECK-NEXT: return %1

// -----

// No two steps of at most four dimensions do it.
func.func @six_dimensions_turned(%arg_x: tensor<2x3x4x5x6x7xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5x6x7xf32>) -> tensor<2x3x4x5x6x7xf32> loc("x")
  %y = "top.Permute"(%x) {order = [0, 4, 3, 2, 1, 5]} : (tensor<2x3x4x5x6x7xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @six_dimensions_turned
// CHECK: %1 = "top.Permute"(%0){{.*}}order = [0, 4, 3, 2, 1, 5]{{.*}}-> tensor<2x6x5x4x3x7xf32>
// CHECK-NEXT: return %1

// -----

// The six dimensions are given, not split off.
func.func @shuffle_of_six(%arg_x: tensor<1x3x2x2x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x3x2x2x4x5xf32>) -> tensor<1x3x2x2x4x5xf32> loc("x")
  %b = "top.Permute"(%x) {order = [0, 1, 4, 2, 5, 3]} : (tensor<1x3x2x2x4x5xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Reshape"(%b) {shape = [1, 3, 8, 10]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @shuffle_of_six
// CHECK: %1 = "top.Permute"(%0){{.*}}order = [0, 2, 3, 1, 4, 5]{{.*}}-> tensor<1x2x2x3x4x5xf32>
// CHECK-NEXT: %2 = "top.Permute"(%1){{.*}}order = [0, 3, 4, 1, 5, 2]{{.*}}-> tensor<1x3x4x2x5x2xf32>
// CHECK-NEXT: %3 = "top.Reshape"(%2){{.*}}-> tensor<1x3x8x10xf32>
// CHECK-NEXT: return %3

// -----

// The six dimensions are not joined.
func.func @shuffle_stays_six(%arg_x: tensor<1x12x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x12x4x5xf32>) -> tensor<1x12x4x5xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 3, 2, 2, 4, 5]} : (tensor<1x12x4x5xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 1, 4, 2, 5, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Abs"(%b) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @shuffle_stays_six
// CHECK: %1 = "top.Reshape"(%0){{.*}}-> tensor<1x3x2x2x4x5xf32>
// CHECK-NEXT: %2 = "top.Permute"(%1){{.*}}order = [0, 2, 3, 1, 4, 5]{{.*}}-> tensor<1x2x2x3x4x5xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 3, 4, 1, 5, 2]{{.*}}-> tensor<1x3x4x2x5x2xf32>
// CHECK-NEXT: %4 = "top.Abs"(%3){{.*}}-> tensor<1x3x4x2x5x2xf32>
// CHECK-NEXT: return %4

// -----

// The pixels are not those of an image before.
func.func @shuffle_of_merged_pixels(%arg_x: tensor<1x12x20xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x12x20xf32>) -> tensor<1x12x20xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 3, 2, 2, 4, 5]} : (tensor<1x12x20xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 1, 4, 2, 5, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Reshape"(%b) {shape = [1, 3, 8, 10]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @shuffle_of_merged_pixels
// CHECK: %1 = "top.Reshape"(%0){{.*}}-> tensor<1x3x2x2x4x5xf32>
// CHECK-NEXT: %2 = "top.Permute"(%1){{.*}}order = [0, 2, 3, 1, 4, 5]{{.*}}-> tensor<1x2x2x3x4x5xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 3, 4, 1, 5, 2]{{.*}}-> tensor<1x3x4x2x5x2xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<1x3x8x10xf32>
// CHECK-NEXT: return %4

// -----

// The pixels are not those of an image behind.
func.func @shuffle_to_merged_pixels(%arg_x: tensor<1x12x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x12x4x5xf32>) -> tensor<1x12x4x5xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 3, 2, 2, 4, 5]} : (tensor<1x12x4x5xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Permute"(%a) {order = [0, 1, 4, 2, 5, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Reshape"(%b) {shape = [1, 3, 80]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @shuffle_to_merged_pixels
// CHECK: %1 = "top.Reshape"(%0){{.*}}-> tensor<1x3x2x2x4x5xf32>
// CHECK-NEXT: %2 = "top.Permute"(%1){{.*}}order = [0, 2, 3, 1, 4, 5]{{.*}}-> tensor<1x2x2x3x4x5xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 3, 4, 1, 5, 2]{{.*}}-> tensor<1x3x4x2x5x2xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<1x3x80xf32>
// CHECK-NEXT: return %4

// -----

// A dimension goes before the others are permuted: PyTorch takes q, k and v of one product so.
func.func @squeezed_first(%arg_x: tensor<6x2x3x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<6x2x3x8xf32>) -> tensor<6x2x3x8xf32> loc("x")
  %u = "top.Unsqueeze"(%x) {axes = [0]} : (tensor<6x2x3x8xf32>) -> tensor<*xf32> loc("u")
  %p = "top.Permute"(%u) {order = [3, 1, 2, 0, 4]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Squeeze"(%p) {axes = [-2]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @squeezed_first
// CHECK: [[X:%.*]] = "top.Input"
// CHECK-NEXT: [[Y:%.*]] = "top.Permute"([[X]]) {order = [2, 0, 1, 3]} {{.*}} -> tensor<3x6x2x8xf32>
// CHECK-NEXT: return [[Y]]

// -----

// What is permuted has another reader: its dimensions stay.
func.func @read_unsqueezed(%arg_x: tensor<2x1x3x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<2x1x3x8xf32>) -> tensor<2x1x3x8xf32> loc("x")
  %p = "top.Permute"(%x) {order = [3, 0, 1, 2]} : (tensor<2x1x3x8xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Squeeze"(%p) {axes = [2]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  %z = "top.Abs"(%p) : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @read_unsqueezed
// CHECK: "top.Permute"({{.*}}order = [3, 0, 1, 2]
// CHECK-NEXT: "top.Squeeze"
