// RUN: tpu-opt %s --split-input-file --processor-top-optimize --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --processor-top-optimize="disable=ConvRowsToPlanes" --no-locations | filecheck %s --check-prefix=OFF

// ConvRowsToPlanes: tensors of a convolution along one dimension get a second one, of size 1.
// CHECK-LABEL: func.func @rows
// CHECK: "top.Reshape"{{.*}} -> tensor<2x4x9x1xf32>
// CHECK-NEXT: "top.Conv"{{.*}}kernel_shape = [3, 1]{{.*}} -> tensor<2x6x9x1xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<2x6x9xf32>
// OFF-LABEL: func.func @rows
// OFF-NOT: top.Reshape
func.func @rows(%arg0: tensor<2x4x9xf32>) -> tensor<2x6x9xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x4x9xf32>) -> tensor<2x4x9xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<6x4x3x1xf32> loc("w")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 1], strides = [1, 1], pads = [1, 0, 1, 0], dilations = [1, 1]} : (tensor<2x4x9xf32>, tensor<6x4x3x1xf32>, none) -> tensor<2x6x9xf32> loc("y")
  return %y : tensor<2x6x9xf32>
}

// -----

// Refused: there are two spatial dimensions already, if one is of size 1.
// CHECK-LABEL: func.func @planes
// CHECK-NOT: top.Reshape
// CHECK: "top.Conv"
// CHECK-NOT: top.Reshape
// OFF-LABEL: func.func @planes
func.func @planes(%arg0: tensor<2x4x9x1xf32>) -> tensor<2x6x9x1xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x4x9x1xf32>) -> tensor<2x4x9x1xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<6x4x3x1xf32> loc("w")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [3, 1], strides = [1, 1], pads = [1, 0, 1, 0], dilations = [1, 1]} : (tensor<2x4x9x1xf32>, tensor<6x4x3x1xf32>, none) -> tensor<2x6x9x1xf32> loc("y")
  return %y : tensor<2x6x9x1xf32>
}

// -----

// Refused: the kernel has one dimension as the tensor has; Conv1dTo2d has not run.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: top.Reshape
// OFF-LABEL: func.func @narrow
func.func @narrow(%arg0: tensor<2x4x9xf32>) -> tensor<2x6x9xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x4x9xf32>) -> tensor<2x4x9xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<6x4x3xf32> loc("w")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [3], strides = [1], pads = [1, 1], dilations = [1]} : (tensor<2x4x9xf32>, tensor<6x4x3xf32>, none) -> tensor<2x6x9xf32> loc("y")
  return %y : tensor<2x6x9xf32>
}

// -----

// DeconvRowsToPlanes: the same of a transposed convolution, whose filter gets the dimension, too.
// CHECK-LABEL: func.func @stamped
// CHECK: "top.Weight"{{.*}} -> tensor<6x4x3x1xf32>
// CHECK: "top.Reshape"{{.*}} -> tensor<2x4x9x1xf32>
// CHECK-NEXT: "top.Deconv"{{.*}}kernel_shape = [3, 1]{{.*}}output_padding = [1, 0]{{.*}}pads = [1, 0, 1, 0]{{.*}}strides = [2, 1]{{.*}} -> tensor<2x6x18x1xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<2x6x18xf32>
// OFF-LABEL: func.func @stamped
func.func @stamped(%arg0: tensor<2x4x9xf32>) -> tensor<2x6x18xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x4x9xf32>) -> tensor<2x4x9xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<6x4x3xf32> loc("w")
  %y = "top.Deconv"(%x, %w, %n) {kernel_shape = [3], strides = [2], pads = [1, 1], output_padding = [1]} : (tensor<2x4x9xf32>, tensor<6x4x3xf32>, none) -> tensor<2x6x18xf32> loc("y")
  return %y : tensor<2x6x18xf32>
}

// -----

// Refused: a filter that something else reads, too.
// CHECK-LABEL: func.func @shared
// CHECK-NOT: top.Reshape
// OFF-LABEL: func.func @shared
func.func @shared(%arg0: tensor<2x4x9xf32>) -> (tensor<2x4x17xf32>, tensor<2x4x17xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x4x9xf32>) -> tensor<2x4x9xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x4x3xf32> loc("w")
  %y = "top.Deconv"(%x, %w, %n) {kernel_shape = [3], strides = [2], pads = [1, 1]} : (tensor<2x4x9xf32>, tensor<4x4x3xf32>, none) -> tensor<2x4x17xf32> loc("y")
  %z = "top.Deconv"(%x, %w, %n) {kernel_shape = [3], strides = [2], pads = [1, 1]} : (tensor<2x4x9xf32>, tensor<4x4x3xf32>, none) -> tensor<2x4x17xf32> loc("z")
  return %y, %z : tensor<2x4x17xf32>, tensor<2x4x17xf32>
}
