// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Patches of 2 x 3 pixels, whose channels come last: a convolution.
func.func @patches(%arg_x: tensor<1x2x4x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<12x5xf32> loc("random_12x5")
  %a = "top.Reshape"(%x) {shape = [1, 2, 2, 2, 2, 3]} : (tensor<1x2x4x6xf32>) -> tensor<*xf32> loc("a")
  %p = "top.Permute"(%a) {order = [0, 2, 4, 3, 5, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %r = "top.Reshape"(%p) {shape = [1, 4, 12]} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  %y = "top.MatMul"(%r, %w, %none) : (tensor<*xf32>, tensor<12x5xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @patches
// CHECK: [[X:%.*]] = "top.Input"
// CHECK: [[W:%.*]] = "top.Weight"{{.*}} -> tensor<5x2x2x3xf32>
// CHECK: [[C:%.*]] = "top.Conv"([[X]], [[W]], {{.*}}kernel_shape = [2, 3]{{.*}}strides = [2, 3]{{.*}} -> tensor<1x5x2x2xf32>
// CHECK-NEXT: [[F:%.*]] = "top.Reshape"([[C]]){{.*}} -> tensor<1x5x4xf32>
// CHECK-NEXT: [[Y:%.*]] = "top.Permute"([[F]]) {order = [0, 2, 1]} {{.*}} -> tensor<1x4x5xf32>
// CHECK-NEXT: return [[Y]]

// -----

// Windows over whole rows are none.
func.func @lines(%arg_x: tensor<1x2x4x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<12x5xf32> loc("random_12x5")
  %p = "top.Permute"(%x) {order = [0, 2, 1, 3]} : (tensor<1x2x4x6xf32>) -> tensor<*xf32> loc("p")
  %r = "top.Reshape"(%p) {shape = [1, 4, 12]} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  %y = "top.MatMul"(%r, %w, %none) : (tensor<*xf32>, tensor<12x5xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @lines
// CHECK: "top.Permute"
// CHECK: "top.MatMul"

// -----

// The columns of patches before their rows: no image of theirs.
func.func @columns_first(%arg_x: tensor<1x2x4x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<12x5xf32> loc("random_12x5")
  %a = "top.Reshape"(%x) {shape = [1, 2, 2, 2, 2, 3]} : (tensor<1x2x4x6xf32>) -> tensor<*xf32> loc("a")
  %p = "top.Permute"(%a) {order = [0, 4, 2, 1, 3, 5]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %r = "top.Reshape"(%p) {shape = [1, 4, 12]} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  %y = "top.MatMul"(%r, %w, %none) : (tensor<*xf32>, tensor<12x5xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @columns_first
// CHECK: "top.MatMul"
// CHECK-NOT: top.Conv
