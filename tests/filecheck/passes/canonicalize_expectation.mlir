// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// The mean of a distribution over bins, as detectors give it for each side of a box.

func.func @sides(%arg_x: tensor<1x12x50xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x12x50xf32>) -> tensor<1x12x50xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %r = "top.Reshape"(%x) {shape = [1, 3, 4, 50]} : (tensor<1x12x50xf32>) -> tensor<*xf32> loc("r")
  %p = "top.Permute"(%r) {order = [0, 2, 1, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %s = "top.Softmax"(%p) {axis = 1 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("s")
  %c = "top.Conv"(%s, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<*xf32>, tensor<1x4x1x1xf32>, none) -> tensor<*xf32> loc("c")
  return %c : tensor<*xf32>
}

// CHECK-LABEL: func.func @sides
// CHECK: "top.Permute"{{.*}} -> tensor<1x50x12xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<1x50x3x4xf32>
// CHECK-NEXT: "top.Softmax"{{.*}}axis = 3 : si32
// CHECK: "top.Mul"{{.*}}tensor<4xf32>) -> tensor<1x50x3x4xf32>
// CHECK-NEXT: "top.Reduce"{{.*}}ReduceSum{{.*}} -> tensor<1x50x3xf32>
// CHECK-NEXT: "top.Permute"{{.*}} -> tensor<1x3x50xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<1x1x3x50xf32>

// -----

// The softmax is read by another op, too.
func.func @shared(%arg_x: tensor<1x12x50xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x12x50xf32>) -> tensor<1x12x50xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %r = "top.Reshape"(%x) {shape = [1, 3, 4, 50]} : (tensor<1x12x50xf32>) -> tensor<*xf32> loc("r")
  %p = "top.Permute"(%r) {order = [0, 2, 1, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %s = "top.Softmax"(%p) {axis = 1 : si32} : (tensor<*xf32>) -> tensor<*xf32> loc("s")
  %c = "top.Conv"(%s, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<*xf32>, tensor<1x4x1x1xf32>, none) -> tensor<*xf32> loc("c")
  return %c, %s : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @shared
// CHECK: "top.Softmax"{{.*}}axis = 1 : si32
// CHECK-NEXT: "top.Conv"

// -----

// The bins are in rows already: one column of a product is a sum.
func.func @rows(%arg_x: tensor<1x50x3x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x50x3x4xf32>) -> tensor<1x50x3x4xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
  %s = "top.Softmax"(%x) {axis = 3 : si32} : (tensor<1x50x3x4xf32>) -> tensor<*xf32> loc("s")
  %y = "top.MatMul"(%s, %w, %none) : (tensor<*xf32>, tensor<4xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: "top.Softmax"
// CHECK: "top.Mul"
// CHECK-NEXT: "top.Reduce"{{.*}} -> tensor<1x50x3xf32>
// CHECK-NEXT: return

// -----

// Two columns are a product.
func.func @columns(%arg_x: tensor<1x50x3x4xf32>, %arg_w: tensor<4x2xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x50x3x4xf32>) -> tensor<1x50x3x4xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("w")
  %s = "top.Softmax"(%x) {axis = 3 : si32} : (tensor<1x50x3x4xf32>) -> tensor<*xf32> loc("s")
  %y = "top.MatMul"(%s, %w, %none) : (tensor<*xf32>, tensor<4x2xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK: "top.MatMul"
