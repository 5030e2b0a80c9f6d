// RUN: tpu-opt %s --split-input-file --orient-heads --no-locations | filecheck %s

// What lies between works on rows of heads.
func.func @between(%arg_x: tensor<1x25x3x8xf32>, %arg_z: tensor<1x3x8x24xf32>) -> tensor<1x24x3x8xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x25x3x8xf32>) -> tensor<1x25x3x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<1x3x8x24xf32>) -> tensor<1x3x8x24xf32> loc("z")
  %h = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x25x3x8xf32>) -> tensor<1x3x25x8xf32> loc("h")
  %s = "top.Slice"(%h, %none, %none, %none) {axes = [], ends = [1, 3, 25, 8], offset = [0, 0, 1, 0], steps = [1, 1, 1, 1]} : (tensor<1x3x25x8xf32>, none, none, none) -> tensor<1x3x24x8xf32> loc("s")
  %t = "top.Permute"(%z) {order = [0, 1, 3, 2]} : (tensor<1x3x8x24xf32>) -> tensor<1x3x24x8xf32> loc("t")
  %m = "top.Mul"(%s, %t) : (tensor<1x3x24x8xf32>, tensor<1x3x24x8xf32>) -> tensor<1x3x24x8xf32> loc("m")
  %y = "top.Permute"(%m) {order = [0, 2, 1, 3]} : (tensor<1x3x24x8xf32>) -> tensor<1x24x3x8xf32> loc("y")
  return %y : tensor<1x24x3x8xf32>
}

// CHECK-LABEL: func.func @between
// CHECK: [[S:%.*]] = "top.Slice"({{.*}}offset = [0, 1, 0, 0]{{.*}} -> tensor<1x24x3x8xf32>
// CHECK-NEXT: [[T:%.*]] = "top.Permute"({{.*}}) {order = [0, 3, 1, 2]} : (tensor<1x3x8x24xf32>) -> tensor<1x24x3x8xf32>
// CHECK-NEXT: [[M:%.*]] = "top.Mul"([[S]], [[T]])
// CHECK-NEXT: return [[M]]

// -----

// As many are needed either way: it stays as it is.
func.func @as_many(%arg_x: tensor<1x25x3x8xf32>) -> tensor<1x3x25x8xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x25x3x8xf32>) -> tensor<1x25x3x8xf32> loc("x")
  %h = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x25x3x8xf32>) -> tensor<1x3x25x8xf32> loc("h")
  %y = "top.Relu"(%h) : (tensor<1x3x25x8xf32>) -> tensor<1x3x25x8xf32> loc("y")
  return %y : tensor<1x3x25x8xf32>
}

// CHECK-LABEL: func.func @as_many
// CHECK: "top.Permute"
// CHECK-NEXT: "top.Relu"
// CHECK-NEXT: return

// -----

// Three dimensions are rows, heads and columns of one image.
func.func @three_dimensions(%arg_x: tensor<25x3x8xf32>) -> tensor<25x3x8xf32> {
  %x = "top.Input"(%arg_x) : (tensor<25x3x8xf32>) -> tensor<25x3x8xf32> loc("x")
  %h = "top.Permute"(%x) {order = [1, 0, 2]} : (tensor<25x3x8xf32>) -> tensor<3x25x8xf32> loc("h")
  %r = "top.Relu"(%h) : (tensor<3x25x8xf32>) -> tensor<3x25x8xf32> loc("r")
  %y = "top.Permute"(%r) {order = [1, 0, 2]} : (tensor<3x25x8xf32>) -> tensor<25x3x8xf32> loc("y")
  return %y : tensor<25x3x8xf32>
}

// CHECK-LABEL: func.func @three_dimensions
// CHECK: %1 = "top.Relu"(%0)
// CHECK-NEXT: return %1

// -----

// Permutes behind each other are one, and that may be an exchange of rows and heads.
func.func @two_steps(%arg_x: tensor<25x1x8xf32>, %arg_z: tensor<1x3x8xf32>) -> tensor<3x25x8xf32> {
  %x = "top.Input"(%arg_x) : (tensor<25x1x8xf32>) -> tensor<25x1x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<1x3x8xf32>) -> tensor<1x3x8xf32> loc("z")
  %s = "top.Add"(%x, %z) : (tensor<25x1x8xf32>, tensor<1x3x8xf32>) -> tensor<25x3x8xf32> loc("s")
  %p = "top.Permute"(%s) {order = [0, 2, 1]} : (tensor<25x3x8xf32>) -> tensor<25x8x3xf32> loc("p")
  %q = "top.Permute"(%p) {order = [2, 0, 1]} : (tensor<25x8x3xf32>) -> tensor<3x25x8xf32> loc("q")
  %y = "top.Relu"(%q) : (tensor<3x25x8xf32>) -> tensor<3x25x8xf32> loc("y")
  return %y : tensor<3x25x8xf32>
}

// CHECK-LABEL: func.func @two_steps
// CHECK-NOT: top.Permute
// CHECK: "top.Add"({{.*}} -> tensor<3x25x8xf32>
// CHECK-NEXT: "top.Relu"

// -----

// Two dimensions, or five, have no rows and heads.
func.func @other_ranks(%arg_x: tensor<1x25x3x2x4xf32>) -> tensor<1x25x3x2x4xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x25x3x2x4xf32>) -> tensor<1x25x3x2x4xf32> loc("x")
  %h = "top.Permute"(%x) {order = [0, 2, 1, 3, 4]} : (tensor<1x25x3x2x4xf32>) -> tensor<1x3x25x2x4xf32> loc("h")
  %r = "top.Relu"(%h) : (tensor<1x3x25x2x4xf32>) -> tensor<1x3x25x2x4xf32> loc("r")
  %y = "top.Permute"(%r) {order = [0, 2, 1, 3, 4]} : (tensor<1x3x25x2x4xf32>) -> tensor<1x25x3x2x4xf32> loc("y")
  return %y : tensor<1x25x3x2x4xf32>
}

// CHECK-LABEL: func.func @other_ranks
// CHECK: "top.Permute"
// CHECK-NEXT: "top.Relu"
// CHECK-NEXT: "top.Permute"

// -----

// A result that becomes what it was moved from has that one's calibrated range.
func.func @range_of_the_result(%arg_x: tensor<1x25x3x8xf32>) -> tensor<1x25x3x8x!quant.calibrated<f32<0.0:4.0>>> {
  %x = "top.Input"(%arg_x) : (tensor<1x25x3x8xf32>) -> tensor<1x25x3x8x!quant.calibrated<f32<-4.1:4.1>>> loc("x")
  %h = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x25x3x8x!quant.calibrated<f32<-4.1:4.1>>>) -> tensor<1x3x25x8x!quant.calibrated<f32<-4.1:4.1>>> loc("h")
  %r = "top.Relu"(%h) : (tensor<1x3x25x8x!quant.calibrated<f32<-4.1:4.1>>>) -> tensor<1x3x25x8x!quant.calibrated<f32<0.0:4.1>>> loc("r")
  %y = "top.Permute"(%r) {order = [0, 2, 1, 3]} : (tensor<1x3x25x8x!quant.calibrated<f32<0.0:4.1>>>) -> tensor<1x25x3x8x!quant.calibrated<f32<0.0:4.0>>> loc("y")
  return %y : tensor<1x25x3x8x!quant.calibrated<f32<0.0:4.0>>>
}

// CHECK-LABEL: func.func @range_of_the_result
// CHECK-SAME: -> tensor<1x25x3x8x!quant.calibrated<f32<0.000000e+00:4.100000e+00>>>
// CHECK: [[R:%.*]] = "top.Relu"
// CHECK-NEXT: return [[R]]
