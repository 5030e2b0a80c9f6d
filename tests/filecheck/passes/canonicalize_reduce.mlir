// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Reduce and resizing.

// The mean of the image is a pool.
func.func @mean_of_image(%arg_x: tensor<2x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [2, 3], keepdims = true, mode = "ReduceMean"} : (tensor<2x3x4x5xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @mean_of_image
// CHECK: %1 = "top.AvgPool"(%0){{.*}}count_include_pad = true{{.*}}kernel_shape = [4, 5]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<2x3x1x1xf32>
// CHECK-NEXT: return %1 : tensor<2x3x1x1xf32>

// -----

// There is no pool of sums.
func.func @sum_of_image(%arg_x: tensor<2x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [2, 3], keepdims = true, mode = "ReduceSum"} : (tensor<2x3x4x5xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @sum_of_image
// CHECK: %1 = "top.Reduce"(%0){{.*}}axes = [2, 3]{{.*}}mode = "ReduceSum"{{.*}}-> tensor<2x3x1x1xf32>
// CHECK-NEXT: return %1 : tensor<2x3x1x1xf32>

// -----

// Each sum has one term.
func.func @single_elements(%arg_x: tensor<4x1x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<4x1x6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @single_elements
// CHECK: %1 = "top.Reshape"(%0){{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: return %1 : tensor<4x6xf32>

// -----

// The norm of one element is its size.
func.func @norm_of_single_elements(%arg_x: tensor<4x1x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [1], keepdims = false, mode = "ReduceL2"} : (tensor<4x1x6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @norm_of_single_elements
// CHECK: %1 = "top.Reduce"(%0){{.*}}axes = [1]{{.*}}mode = "ReduceL2"{{.*}}-> tensor<4x6xf32>
// CHECK-NEXT: return %1 : tensor<4x6xf32>

// -----

// Two sums are one.
func.func @neighbouring_axes(%arg_x: tensor<2x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> loc("x")
  %a = "top.Reduce"(%x) {axes = [3], keepdims = false, mode = "ReduceSum"} : (tensor<2x3x4x5xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Reduce"(%a) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @neighbouring_axes
// CHECK: %1 = "top.Reduce"(%0){{.*}}axes = [2, 3]{{.*}}mode = "ReduceSum"{{.*}}-> tensor<2x3xf32>
// CHECK-NEXT: return %1 : tensor<2x3xf32>

// -----

// A maximum of sums is not one reduction.
func.func @two_modes(%arg_x: tensor<2x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> loc("x")
  %a = "top.Reduce"(%x) {axes = [3], keepdims = false, mode = "ReduceSum"} : (tensor<2x3x4x5xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Reduce"(%a) {axes = [2], keepdims = false, mode = "ReduceMax"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @two_modes
// CHECK: %1 = "top.Reduce"(%0){{.*}}axes = [3]{{.*}}mode = "ReduceSum"{{.*}}-> tensor<2x3x4xf32>
// CHECK-NEXT: %2 = "top.Reduce"(%1){{.*}}axes = [2]{{.*}}mode = "ReduceMax"{{.*}}-> tensor<2x3xf32>
// CHECK-NEXT: return %2 : tensor<2x3xf32>

// -----

// The axes are those of x.
func.func @behind_permute(%arg_x: tensor<2x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> loc("x")
  %p = "top.Permute"(%x) {order = [0, 2, 3, 1]} : (tensor<2x3x4x5xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Reduce"(%p) {axes = [1, 2], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @behind_permute
// CHECK: %1 = "top.Reduce"(%0){{.*}}axes = [2, 3]{{.*}}mode = "ReduceSum"{{.*}}-> tensor<2x3xf32>
// CHECK-NEXT: return %1 : tensor<2x3xf32>

// -----

// What is left would come in another order.
func.func @order_of_what_stays(%arg_x: tensor<2x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> loc("x")
  %p = "top.Permute"(%x) {order = [3, 2, 1, 0]} : (tensor<2x3x4x5xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Reduce"(%p) {axes = [1, 2], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @order_of_what_stays
// CHECK: %1 = "top.Permute"(%0){{.*}}order = [3, 2, 1, 0]{{.*}}-> tensor<5x4x3x2xf32>
// CHECK-NEXT: %2 = "top.Reduce"(%1){{.*}}axes = [1, 2]{{.*}}mode = "ReduceSum"{{.*}}-> tensor<5x2xf32>
// CHECK-NEXT: return %2 : tensor<5x2xf32>

// -----

// Whole factors.
func.func @nearest(%arg_x: tensor<1x2x4x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf32> loc("x")
  %y = "top.Interp"(%x, %none) {mode = "nearest", coord_mode = "asymmetric", scale_h = 2.0, scale_w = 3.0} : (tensor<1x2x4x6xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @nearest
// CHECK: %1 = "top.Upsample"(%0){{.*}}scale_h = 2 : i64{{.*}}-> tensor<1x2x8x18xf32>
// CHECK-NEXT: return %1 : tensor<1x2x8x18xf32>

// -----

// No whole factor.
func.func @nearest_and_a_half(%arg_x: tensor<1x2x4x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf32> loc("x")
  %y = "top.Interp"(%x, %none) {mode = "nearest", coord_mode = "asymmetric", scale_h = 1.5, scale_w = 1.5} : (tensor<1x2x4x6xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @nearest_and_a_half
// CHECK: %2 = "top.Interp"(%1, %0){{.*}}mode = "nearest"{{.*}}scale_h = 1.500000e+00 : f64{{.*}}-> tensor<1x2x6x9xf32>
// CHECK-NEXT: return %2 : tensor<1x2x6x9xf32>

// -----

// Scores of pixels and texts: what is reduced is whole before the change of shape.
func.func @before_view(%arg_x: tensor<4x1600x80xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x1600x80xf32>) -> tensor<4x1600x80xf32> loc("x")
  %v = "top.Reshape"(%x) {shape = [1, 4, 40, 40, 80]} : (tensor<4x1600x80xf32>) -> tensor<*xf32> loc("v")
  %y = "top.Reduce"(%v) {axes = [-1], keepdims = false, mode = "ReduceMax"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @before_view
// CHECK: %[[R:.*]] = "top.Reduce"{{.*}}axes = [2]{{.*}}-> tensor<4x1600xf32>
// CHECK-NEXT: %[[Y:.*]] = "top.Reshape"(%[[R]]){{.*}}-> tensor<1x4x40x40xf32>
// CHECK-NEXT: return %[[Y]]

// -----

// Half of the dimension that is reduced is another one there.
func.func @parted(%arg_x: tensor<4x1600x80xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x1600x80xf32>) -> tensor<4x1600x80xf32> loc("x")
  %v = "top.Reshape"(%x) {shape = [1, 4, 1600, 2, 40]} : (tensor<4x1600x80xf32>) -> tensor<*xf32> loc("v")
  %y = "top.Reduce"(%v) {axes = [4], keepdims = false, mode = "ReduceMax"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @parted
// CHECK: "top.Reshape"
// CHECK-NEXT: "top.Reduce"{{.*}}axes = [4]

// -----

// Four dimensions the chip has.
func.func @four(%arg_x: tensor<4x1600x80xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x1600x80xf32>) -> tensor<4x1600x80xf32> loc("x")
  %v = "top.Reshape"(%x) {shape = [4, 40, 40, 80]} : (tensor<4x1600x80xf32>) -> tensor<*xf32> loc("v")
  %y = "top.Reduce"(%v) {axes = [3], keepdims = false, mode = "ReduceMax"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @four
// CHECK: "top.Reshape"
// CHECK-NEXT: "top.Reduce"{{.*}}axes = [3]

// -----

// Dimensions that come back behind a Reduce are kept by it.
func.func @kept(%arg_x: tensor<4x8x6xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<4x8x6xf32>) -> tensor<4x8x6xf32> loc("x")
  %a = "top.Reduce"(%x) {axes = [1], keepdims = false, mode = "ReduceMean"} : (tensor<4x8x6xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Reshape"(%a) {shape = [4, 1, 6]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  %b = "top.Reduce"(%x) {axes = [-1], keepdims = false, mode = "ReduceMax"} : (tensor<4x8x6xf32>) -> tensor<*xf32> loc("b")
  %z = "top.Unsqueeze"(%b) {axes = [2]} : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @kept
// CHECK: [[Y:%.*]] = "top.Reduce"({{.*}}keepdims = true, mode = "ReduceMean"{{.*}} -> tensor<4x1x6xf32>
// CHECK-NEXT: [[Z:%.*]] = "top.Reduce"({{.*}}keepdims = true, mode = "ReduceMax"{{.*}} -> tensor<4x8x1xf32>
// CHECK-NEXT: return [[Y]], [[Z]]

// -----

// Elsewhere, or for one of two readers, they are not.
func.func @kept_elsewhere(%arg_x: tensor<4x8x6xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<4x8x6xf32>) -> tensor<4x8x6xf32> loc("x")
  %a = "top.Reduce"(%x) {axes = [1], keepdims = false, mode = "ReduceMax"} : (tensor<4x8x6xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Reshape"(%a) {shape = [1, 4, 6]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  %b = "top.Reduce"(%x) {axes = [2], keepdims = false, mode = "ReduceMax"} : (tensor<4x8x6xf32>) -> tensor<*xf32> loc("b")
  %z = "top.Unsqueeze"(%b) {axes = [2]} : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  %v = "top.Abs"(%b) : (tensor<*xf32>) -> tensor<*xf32> loc("v")
  return %y, %z, %v : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @kept_elsewhere
// CHECK: "top.Reduce"({{.*}}axes = [1], keepdims = false
// CHECK: "top.Reduce"({{.*}}axes = [2], keepdims = false
