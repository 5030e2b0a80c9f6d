// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Of one channel the planes are channels, and every second one is read.
func.func @planes(%arg_x: tensor<2x1x8x9x12xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x1x8x9x12xf32>) -> tensor<2x1x8x9x12xf32> loc("x")
  %y = "top.MaxPool"(%x) {kernel_shape = [1, 3, 3], strides = [2, 1, 2], pads = [0, 1, 0, 0, 1, 1], do_relu = true} : (tensor<2x1x8x9x12xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @planes
// CHECK: [[P:%.*]] = "top.Reshape"(%1){{.*}} -> tensor<2x8x9x12xf32>
// CHECK-NEXT: [[S:%.*]] = "top.Slice"([[P]], %0, %0, %0){{.*}}steps = [1, 2, 1, 1]{{.*}} -> tensor<2x4x9x12xf32>
// CHECK-NEXT: [[M:%.*]] = "top.MaxPool"([[S]]){{.*}}do_relu = true{{.*}}kernel_shape = [3, 3]{{.*}}pads = [1, 0, 1, 1]{{.*}}strides = [1, 2]{{.*}} -> tensor<2x4x9x6xf32>
// CHECK-NEXT: "top.Reshape"([[M]]){{.*}} -> tensor<2x1x4x9x6xf32>

// -----

// Of several, planes of all channels follow each other.
func.func @channels(%arg_x: tensor<1x3x8x9x12xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x9x12xf32>) -> tensor<1x3x8x9x12xf32> loc("x")
  %y = "top.AvgPool"(%x) {kernel_shape = [1, 3, 3], strides = [3, 3, 3], pads = [0, 0, 0, 0, 0, 0]} : (tensor<1x3x8x9x12xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @channels
// CHECK: [[S:%.*]] = "top.Slice"(%1, %0, %0, %0){{.*}}steps = [1, 1, 3, 1, 1]{{.*}} -> tensor<1x3x3x9x12xf32>
// CHECK-NEXT: [[P:%.*]] = "top.Reshape"([[S]]){{.*}} -> tensor<1x9x9x12xf32>
// CHECK-NEXT: [[M:%.*]] = "top.AvgPool"([[P]]){{.*}} -> tensor<1x9x3x4xf32>
// CHECK-NEXT: "top.Reshape"([[M]]){{.*}} -> tensor<1x3x3x3x4xf32>

// -----

// All planes are read: no Slice.
func.func @every(%arg_x: tensor<1x3x8x9x12xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x9x12xf32>) -> tensor<1x3x8x9x12xf32> loc("x")
  %y = "top.MaxPool"(%x) {kernel_shape = [1, 3, 3], strides = [1, 3, 3], pads = [0, 0, 0, 0, 0, 0]} : (tensor<1x3x8x9x12xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @every
// CHECK: [[P:%.*]] = "top.Reshape"(%0){{.*}} -> tensor<1x24x9x12xf32>
// CHECK-NEXT: "top.MaxPool"([[P]])

// -----

// Windows two planes deep, and planes of padding, stay.
func.func @deep(%arg_x: tensor<1x3x8x9x12xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x9x12xf32>) -> tensor<1x3x8x9x12xf32> loc("x")
  %a = "top.MaxPool"(%x) {kernel_shape = [2, 3, 3], strides = [2, 3, 3], pads = [0, 0, 0, 0, 0, 0]} : (tensor<1x3x8x9x12xf32>) -> tensor<*xf32> loc("a")
  %y = "top.AvgPool"(%a) {kernel_shape = [1, 3, 2], strides = [2, 3, 2], pads = [1, 0, 0, 0, 0, 0], count_include_pad = true} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @deep
// CHECK: "top.MaxPool"{{.*}}kernel_shape = [2, 3, 3]
// CHECK-NEXT: "top.AvgPool"{{.*}}kernel_shape = [1, 3, 2]
