// RUN: tpu-opt %s --split-input-file --orient-products --no-locations | filecheck %s

// Queries and keys are channels of an image; nothing needs its rows to be pixels.
func.func @linear_attention(%arg_q: tensor<2x16x196xf32>, %arg_k: tensor<2x16x196xf32>, %arg_v: tensor<2x16x196xf32>) -> tensor<2x16x196xf32> {
  %none = "top.None"() : () -> none
  %qi = "top.Input"(%arg_q) : (tensor<2x16x196xf32>) -> tensor<2x16x196xf32> loc("qi")
  %ki = "top.Input"(%arg_k) : (tensor<2x16x196xf32>) -> tensor<2x16x196xf32> loc("ki")
  %vi = "top.Input"(%arg_v) : (tensor<2x16x196xf32>) -> tensor<2x16x196xf32> loc("vi")
  %q = "top.Permute"(%qi) {order = [0, 2, 1]} : (tensor<2x16x196xf32>) -> tensor<2x196x16xf32> loc("q")
  %qr = "top.Relu"(%q) : (tensor<2x196x16xf32>) -> tensor<2x196x16xf32> loc("qr")
  %v = "top.Permute"(%vi) {order = [0, 2, 1]} : (tensor<2x16x196xf32>) -> tensor<2x196x16xf32> loc("v")
  %state = "top.MatMul"(%ki, %v, %none) : (tensor<2x16x196xf32>, tensor<2x196x16xf32>, none) -> tensor<2x16x16xf32> loc("state")
  %sums = "top.MatMul"(%qr, %state, %none) : (tensor<2x196x16xf32>, tensor<2x16x16xf32>, none) -> tensor<2x196x16xf32> loc("sums")
  %y = "top.Permute"(%sums) {order = [0, 2, 1]} : (tensor<2x196x16xf32>) -> tensor<2x16x196xf32> loc("y")
  return %y : tensor<2x16x196xf32>
}

// CHECK-LABEL: func.func @linear_attention
// CHECK-NOT: top.Permute
// CHECK: "top.Relu"({{.*}} -> tensor<2x16x196xf32>
// CHECK: "top.MatMul"({{.*}}right_transpose = true{{.*}} -> tensor<2x16x16xf32>
// CHECK: "top.MatMul"({{.*}}right_transpose = false{{.*}}(tensor<2x16x16xf32>, tensor<2x16x196xf32>, none) -> tensor<2x16x196xf32>
// CHECK-NEXT: return

// -----

// A bias is added to rows: the transpose of such a product is another op.
func.func @bias(%arg_x: tensor<2x196x16xf32>, %arg_y: tensor<2x16x16xf32>, %arg_b: tensor<1x1x16xf32>) -> tensor<2x16x196xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x196x16xf32>) -> tensor<2x196x16xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<2x16x16xf32>) -> tensor<2x16x16xf32> loc("y")
  %b = "top.Input"(%arg_b) : (tensor<1x1x16xf32>) -> tensor<1x1x16xf32> loc("b")
  %p = "top.MatMul"(%x, %y, %b) : (tensor<2x196x16xf32>, tensor<2x16x16xf32>, tensor<1x1x16xf32>) -> tensor<2x196x16xf32> loc("p")
  %t = "top.Permute"(%p) {order = [0, 2, 1]} : (tensor<2x196x16xf32>) -> tensor<2x16x196xf32> loc("t")
  return %t : tensor<2x16x196xf32>
}

// CHECK-LABEL: func.func @bias
// CHECK: "top.MatMul"({{.*}} -> tensor<2x196x16xf32>
// CHECK-NEXT: "top.Permute"

// -----

// The result is read both ways: the product keeps its form, as one transposition is left anyway.
func.func @both_ways(%arg_x: tensor<2x196x16xf32>, %arg_y: tensor<2x16x196xf32>) -> (tensor<2x196x196xf32>, tensor<2x196x196xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x196x16xf32>) -> tensor<2x196x16xf32> loc("x")
  %y = "top.Input"(%arg_y) : (tensor<2x16x196xf32>) -> tensor<2x16x196xf32> loc("y")
  %p = "top.MatMul"(%x, %y, %none) : (tensor<2x196x16xf32>, tensor<2x16x196xf32>, none) -> tensor<2x196x196xf32> loc("p")
  %t = "top.Permute"(%p) {order = [0, 2, 1]} : (tensor<2x196x196xf32>) -> tensor<2x196x196xf32> loc("t")
  return %p, %t : tensor<2x196x196xf32>, tensor<2x196x196xf32>
}

// CHECK-LABEL: func.func @both_ways
// CHECK: %[[P:.*]] = "top.MatMul"(%{{.*}}) : (tensor<2x196x16xf32>, tensor<2x16x196xf32>, none)
// CHECK-NEXT: %[[T:.*]] = "top.Permute"(%[[P]])
// CHECK-NEXT: return %[[P]], %[[T]]

// -----

// A softmax over channels: what lies behind them becomes one dimension, and it goes along rows.
func.func @classes(%arg_x: tensor<1x19x16x16xf32>) -> tensor<1x19x16x16xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x19x16x16xf32>) -> tensor<1x19x16x16xf32> loc("x")
  %y = "top.Softmax"(%x) {axis = 1 : si32} : (tensor<1x19x16x16xf32>) -> tensor<1x19x16x16xf32> loc("y")
  return %y : tensor<1x19x16x16xf32>
}

// CHECK-LABEL: func.func @classes
// CHECK: "top.Reshape"({{.*}} -> tensor<1x19x256xf32>
// CHECK-NEXT: "top.Permute"({{.*}} -> tensor<1x256x19xf32>
// CHECK-NEXT: "top.Softmax"({{.*}}axis = 2 : si32{{.*}} -> tensor<1x256x19xf32>
// CHECK-NEXT: "top.Permute"({{.*}} -> tensor<1x19x256xf32>
// CHECK-NEXT: "top.Reshape"({{.*}} -> tensor<1x19x16x16xf32>

// -----

// Nothing lies behind the axis but ones: its rows are rows already. Its logarithm is another op's.
func.func @rows(%arg_x: tensor<1x19x16x1xf32>) -> (tensor<1x19x16x1xf32>, tensor<1x19x16x1xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<1x19x16x1xf32>) -> tensor<1x19x16x1xf32> loc("x")
  %y = "top.Softmax"(%x) {axis = 2 : si32} : (tensor<1x19x16x1xf32>) -> tensor<1x19x16x1xf32> loc("y")
  %z = "top.Softmax"(%x) {axis = 1 : si32, log = true} : (tensor<1x19x16x1xf32>) -> tensor<1x19x16x1xf32> loc("z")
  return %y, %z : tensor<1x19x16x1xf32>, tensor<1x19x16x1xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK-NOT: top.Permute
// CHECK-NOT: top.Reshape

// -----

// Lanes have hundreds of columns, which lie together: two transpositions would take longer.
func.func @long_columns(%arg_x: tensor<1x16x4x8400xf32>) -> tensor<1x16x4x8400xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x16x4x8400xf32>) -> tensor<1x16x4x8400xf32> loc("x")
  %y = "top.Softmax"(%x) {axis = 1 : si32} : (tensor<1x16x4x8400xf32>) -> tensor<1x16x4x8400xf32> loc("y")
  return %y : tensor<1x16x4x8400xf32>
}

// CHECK-LABEL: func.func @long_columns
// CHECK-NOT: top.Permute
// CHECK-NOT: top.Reshape
