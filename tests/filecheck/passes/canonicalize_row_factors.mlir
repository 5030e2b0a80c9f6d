// RUN: tpu-opt %s --split-input-file --shape-infer --canonicalize --no-locations | filecheck %s

// A factor of each row goes behind the product, and behind what puts heads beside each other.
func.func @factors(%arg_s: tensor<2x3x6x8xf32>, %arg_v: tensor<2x3x8x4xf32>, %arg_f: tensor<2x1x6x1xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Input"(%arg_s) : (tensor<2x3x6x8xf32>) -> tensor<2x3x6x8xf32> loc("s")
  %v = "top.Input"(%arg_v) : (tensor<2x3x8x4xf32>) -> tensor<2x3x8x4xf32> loc("v")
  %f = "top.Input"(%arg_f) : (tensor<2x1x6x1xf32>) -> tensor<2x1x6x1xf32> loc("f")
  %p = "top.Softmax"(%s) {axis = 3 : si32} : (tensor<2x3x6x8xf32>) -> tensor<*xf32> loc("p")
  %m = "top.Mul"(%f, %p) : (tensor<2x1x6x1xf32>, tensor<*xf32>) -> tensor<*xf32> loc("m")
  %y = "top.MatMul"(%m, %v, %none) : (tensor<*xf32>, tensor<2x3x8x4xf32>, none) -> tensor<*xf32> loc("y")
  %t = "top.Permute"(%y) {order = [0, 2, 1, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("t")
  %r = "top.Reshape"(%t) {shape = [2, 6, 12]} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  return %r : tensor<*xf32>
}

// CHECK-LABEL: func.func @factors
// CHECK: [[P:%.*]] = "top.Softmax"
// CHECK: [[F:%.*]] = "top.Reshape"({{.*}} : (tensor<2x1x6x1xf32>) -> tensor<2x6x1xf32>
// CHECK: [[Y:%.*]] = "top.MatMul"([[P]], {{.*}} -> tensor<2x3x6x4xf32>
// CHECK: [[T:%.*]] = "top.Permute"([[Y]])
// CHECK: [[R:%.*]] = "top.Reshape"([[T]]){{.*}} -> tensor<2x6x12xf32>
// CHECK: "top.Mul"([[R]], [[F]]){{.*}} -> tensor<2x6x12xf32>

// -----

// Factors of heads stop in front of where heads become one row.
func.func @factors_of_heads(%arg_s: tensor<2x3x6x8xf32>, %arg_v: tensor<2x3x8x8xf32>, %arg_f: tensor<3x1x1xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Input"(%arg_s) : (tensor<2x3x6x8xf32>) -> tensor<2x3x6x8xf32> loc("s")
  %v = "top.Input"(%arg_v) : (tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32> loc("v")
  %f = "top.Input"(%arg_f) : (tensor<3x1x1xf32>) -> tensor<3x1x1xf32> loc("f")
  %p = "top.Softmax"(%s) {axis = 3 : si32} : (tensor<2x3x6x8xf32>) -> tensor<*xf32> loc("p")
  %m = "top.Mul"(%p, %f) : (tensor<*xf32>, tensor<3x1x1xf32>) -> tensor<*xf32> loc("m")
  %y = "top.MatMul"(%m, %v, %none) : (tensor<*xf32>, tensor<2x3x8x8xf32>, none) -> tensor<*xf32> loc("y")
  %t = "top.Permute"(%y) {order = [0, 2, 1, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("t")
  %r = "top.Reshape"(%t) {shape = [2, 6, 24]} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  return %r : tensor<*xf32>
}

// CHECK-LABEL: func.func @factors_of_heads
// CHECK: [[Y:%.*]] = "top.MatMul"
// CHECK: [[T:%.*]] = "top.Permute"([[Y]])
// CHECK: [[F:%.*]] = "top.Mul"([[T]], {{.*}} -> tensor<2x6x3x8xf32>
// CHECK: "top.Reshape"([[F]])

// -----

// Rows that become longer, factors of columns, and products of anything but shares stay.
func.func @longer(%arg_s: tensor<6x8xf32>, %arg_v: tensor<8x9xf32>, %arg_f: tensor<6x1xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Input"(%arg_s) : (tensor<6x8xf32>) -> tensor<6x8xf32> loc("s")
  %v = "top.Input"(%arg_v) : (tensor<8x9xf32>) -> tensor<8x9xf32> loc("v")
  %f = "top.Input"(%arg_f) : (tensor<6x1xf32>) -> tensor<6x1xf32> loc("f")
  %p = "top.Softmax"(%s) {axis = 1 : si32} : (tensor<6x8xf32>) -> tensor<*xf32> loc("p")
  %m = "top.Mul"(%p, %f) : (tensor<*xf32>, tensor<6x1xf32>) -> tensor<*xf32> loc("m")
  %y = "top.MatMul"(%m, %v, %none) : (tensor<*xf32>, tensor<8x9xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @longer
// CHECK: [[M:%.*]] = "top.Mul"
// CHECK: "top.MatMul"([[M]],

// -----

func.func @columns(%arg_s: tensor<6x8xf32>, %arg_v: tensor<8x8xf32>, %arg_f: tensor<1x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Input"(%arg_s) : (tensor<6x8xf32>) -> tensor<6x8xf32> loc("s")
  %v = "top.Input"(%arg_v) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("v")
  %f = "top.Input"(%arg_f) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("f")
  %p = "top.Softmax"(%s) {axis = 1 : si32} : (tensor<6x8xf32>) -> tensor<*xf32> loc("p")
  %m = "top.Mul"(%p, %f) : (tensor<*xf32>, tensor<1x8xf32>) -> tensor<*xf32> loc("m")
  %y = "top.MatMul"(%m, %v, %none) : (tensor<*xf32>, tensor<8x8xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK: [[M:%.*]] = "top.Mul"
// CHECK: "top.MatMul"([[M]],

// -----

func.func @no_shares(%arg_s: tensor<6x8xf32>, %arg_v: tensor<8x8xf32>, %arg_f: tensor<6x1xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Input"(%arg_s) : (tensor<6x8xf32>) -> tensor<6x8xf32> loc("s")
  %v = "top.Input"(%arg_v) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("v")
  %f = "top.Input"(%arg_f) : (tensor<6x1xf32>) -> tensor<6x1xf32> loc("f")
  %m = "top.Mul"(%s, %f) : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<*xf32> loc("m")
  %y = "top.MatMul"(%m, %v, %none) : (tensor<*xf32>, tensor<8x8xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @no_shares
// CHECK: [[M:%.*]] = "top.Mul"
// CHECK: "top.MatMul"([[M]],
