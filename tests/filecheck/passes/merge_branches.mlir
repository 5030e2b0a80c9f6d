// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --merge-branches --no-locations | filecheck %s

// A window and a point of the same image: the point becomes the window's middle, the ReLU stays.
// CHECK-LABEL: func.func @points
// CHECK-COUNT-1: "top.Conv"({{.*}}dilations = [1, 1], do_relu = true, {{.*}}kernel_shape = [3, 3], pads = [1, 1, 1, 1], {{.*}}strides = [2, 2]{{.*}}-> tensor<1x4x4x4xf32>
// CHECK-NOT: top.Conv
// CHECK-NOT: top.Add
func.func @points(%arg: tensor<1x3x8x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  %v = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %w = "top.Weight"() : () -> tensor<4x3x1x1xf32> loc("random_4x3x1x1")
  %b = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
  %1 = "top.Conv"(%x, %v, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("window")
  %2 = "top.Conv"(%x, %w, %b) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [2, 2]} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<*xf32> loc("point")
  %y = "top.Add"(%1, %2) {do_relu = true} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// A branch that ends with a ReLU is no linear function of the image.
// CHECK-LABEL: func.func @relu
// CHECK-COUNT-2: top.Conv
// CHECK: top.Add
func.func @relu(%arg: tensor<1x3x8x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  %v = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %w = "top.Weight"() : () -> tensor<4x3x1x1xf32> loc("random_4x3x1x1")
  %1 = "top.Conv"(%x, %v, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("window")
  %2 = "top.Conv"(%x, %w, %n) {do_relu = true, kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [2, 2]} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, none) -> tensor<*xf32> loc("point")
  %y = "top.Add"(%1, %2) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// The boundary: a point that lies beside the window, not in it, would make it larger.
// CHECK-LABEL: func.func @beside
// CHECK-COUNT-2: top.Conv
// CHECK: top.Add
func.func @beside(%arg: tensor<1x3x8x8xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  %v = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %w = "top.Weight"() : () -> tensor<4x3x1x1xf32> loc("random_4x3x1x1")
  %1 = "top.Conv"(%x, %v, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("window")
  %2 = "top.Conv"(%x, %w, %n) {kernel_shape = [1, 1], pads = [2, 2, -2, -2], strides = [1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, none) -> tensor<*xf32> loc("point")
  %y = "top.Add"(%1, %2) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}
