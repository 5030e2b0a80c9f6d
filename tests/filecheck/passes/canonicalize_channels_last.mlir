// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s

// PermuteBehindImageOp: the constant is the bias, the function follows, and no Permute is left.

func.func @bias(%arg0: tensor<1x3x5x5xf32>) -> tensor<1x4x3x3xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32>
  %2 = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("w")
  %3 = "top.Conv"(%1, %2, %0) {kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x3x5x5xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x3x3xf32>
  %4 = "top.Permute"(%3) {order = [0, 2, 3, 1]} : (tensor<1x4x3x3xf32>) -> tensor<1x3x3x4xf32>
  %5 = "top.Sigmoid"(%4) : (tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %6 = "top.Permute"(%5) {order = [0, 3, 1, 2]} : (tensor<1x3x3x4xf32>) -> tensor<1x4x3x3xf32>
  %7 = "top.Abs"(%6) : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  return %7 : tensor<1x4x3x3xf32>
}

// CHECK-LABEL: func.func @bias
// CHECK: %3 = "top.Conv"
// CHECK-NEXT: %4 = "top.Sigmoid"(%3){{.*}}tensor<1x4x3x3xf32>
// CHECK-NEXT: %5 = "top.Abs"(%4)

// -----

// PermuteBeforeImagePad: the convolution takes the Pad in.

func.func @pad(%arg0: tensor<1x5x5x3xf32>) -> tensor<1x4x5x5xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x5x5x3xf32>) -> tensor<1x5x5x3xf32>
  %2 = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("w")
  %3 = "top.Pad"(%1) {mode = "constant", paddings = [0, 1, 1, 0, 0, 1, 1, 0]} : (tensor<1x5x5x3xf32>) -> tensor<1x7x7x3xf32>
  %4 = "top.Permute"(%3) {order = [0, 3, 1, 2]} : (tensor<1x7x7x3xf32>) -> tensor<1x3x7x7xf32>
  %5 = "top.Conv"(%4, %2, %0) {kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x3x7x7xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x5x5xf32>
  return %5 : tensor<1x4x5x5xf32>
}

// CHECK-LABEL: func.func @pad
// CHECK-NOT: top.Pad
// CHECK: %3 = "top.Permute"(%1){{.*}}-> tensor<1x3x5x5xf32>
// CHECK-NEXT: %4 = "top.Conv"(%3{{.*}}pads = [1, 1, 1, 1]

// -----

// SumBeforePermute: the sum of two images, of which one goes on, too.

func.func @sum(%arg0: tensor<1x3x5x5xf32>) -> (tensor<1x3x5x5xf32>, tensor<1x3x5x5xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32>
  %2 = "top.Weight"() : () -> tensor<3x3x1x1xf32> loc("w")
  %3 = "top.Conv"(%1, %2, %0) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x3x5x5xf32>, tensor<3x3x1x1xf32>, none) -> tensor<1x3x5x5xf32>
  %4 = "top.Permute"(%3) {order = [0, 2, 3, 1]} : (tensor<1x3x5x5xf32>) -> tensor<1x5x5x3xf32>
  %5 = "top.Permute"(%4) {order = [0, 3, 1, 2]} : (tensor<1x5x5x3xf32>) -> tensor<1x3x5x5xf32>
  %6 = "top.Abs"(%5) : (tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32>
  %7 = "top.Conv"(%6, %2, %0) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]} : (tensor<1x3x5x5xf32>, tensor<3x3x1x1xf32>, none) -> tensor<1x3x5x5xf32>
  %8 = "top.Permute"(%7) {order = [0, 2, 3, 1]} : (tensor<1x3x5x5xf32>) -> tensor<1x5x5x3xf32>
  %9 = "top.Add"(%4, %8) : (tensor<1x5x5x3xf32>, tensor<1x5x5x3xf32>) -> tensor<1x5x5x3xf32>
  %10 = "top.Permute"(%9) {order = [0, 3, 1, 2]} : (tensor<1x5x5x3xf32>) -> tensor<1x3x5x5xf32>
  %11 = "top.Abs"(%10) : (tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32>
  return %11, %6 : tensor<1x3x5x5xf32>, tensor<1x3x5x5xf32>
}

// CHECK-LABEL: func.func @sum
// CHECK: %3 = "top.Conv"(%1
// CHECK-NEXT: %4 = "top.Abs"(%3)
// CHECK-NEXT: %5 = "top.Conv"(%4
// CHECK-NEXT: %6 = "top.Add"(%3, %5)
// CHECK-NEXT: %7 = "top.Abs"(%6)
