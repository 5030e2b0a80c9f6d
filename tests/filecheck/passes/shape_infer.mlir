// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --no-locations | filecheck %s

// Shapes, clones and folding.

// Each use of a weight gets its own, counted from the last.
func.func @clones(%arg_x: tensor<2x4xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
  %a = "top.Add"(%x, %w) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Add"(%a, %w) : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @clones
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x4xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<1x4xf32>
// CHECK-NEXT: %3 = "top.Add"(%0, %1){{.*}}-> tensor<2x4xf32>
// CHECK-NEXT: %4 = "top.Add"(%3, %2){{.*}}-> tensor<2x4xf32>
// CHECK-NEXT: return %4 : tensor<2x4xf32>

// -----

// The window of a global pool is the image.
func.func @global_pool(%arg_x: tensor<1x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32> loc("x")
  %y = "top.AvgPool"(%x) {kernel_shape = [], strides = [], pads = []} : (tensor<1x3x4x5xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @global_pool
// CHECK: %1 = "top.AvgPool"(%0){{.*}}kernel_shape = [4, 5]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<1x3x1x1xf32>
// CHECK-NEXT: return %1 : tensor<1x3x1x1xf32>

// -----

// What depends on weights alone is a weight.
func.func @folded(%arg_x: tensor<8x4xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %p = "top.Permute"(%w) {order = [1, 0]} : (tensor<4x8xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Add"(%x, %p) : (tensor<8x4xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @folded
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<8x4xf32>
// CHECK-NEXT: %2 = "top.Add"(%0, %1){{.*}}-> tensor<8x4xf32>
// CHECK-NEXT: return %2 : tensor<8x4xf32>

// -----

// An Expand would only make the file larger.
func.func @not_expanded(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x8xf32> loc("random_1x8")
  %e = "top.Expand"(%w) {shape = [4, 8]} : (tensor<1x8xf32>) -> tensor<*xf32> loc("e")
  %y = "top.Add"(%x, %e) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @not_expanded
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x8xf32>
// CHECK-NEXT: %2 = "top.Expand"(%1){{.*}}shape = [4, 8]{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %3 = "top.Add"(%0, %2){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %3 : tensor<4x8xf32>

// -----

// Nothing reads the sine.
func.func @unused(%arg_x: tensor<4xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
  %s = "top.Sin"(%x) : (tensor<4xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Abs"(%x) : (tensor<4xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @unused
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<4xf32>
// CHECK-NEXT: return %1 : tensor<4xf32>

// -----

// Axes are counted from the front.
func.func @from_the_back(%arg_x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("x")
  %y = "top.Softmax"(%x) {axis = -1 : si32} : (tensor<2x3x4xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @from_the_back
// CHECK: %1 = "top.Softmax"(%0){{.*}}axis = 2 : si32{{.*}}-> tensor<2x3x4xf32>
// CHECK-NEXT: return %1 : tensor<2x3x4xf32>
