// RUN: tpu-opt %s --split-input-file --processor-top-optimize --no-locations | filecheck %s

// PoolByLines: the mean of an image is one of columns and then of a line.
// CHECK-LABEL: func.func @whole
// CHECK: "top.AvgPool"{{.*}}kernel_shape = [14, 1]{{.*}}strides = [1, 1]{{.*}} -> tensor<1x96x1x14xf32>
// CHECK-NEXT: "top.AvgPool"{{.*}}do_relu = true{{.*}}kernel_shape = [1, 14]{{.*}} -> tensor<1x96x1x1xf32>
func.func @whole(%arg0: tensor<1x96x14x14xf32>) -> tensor<1x96x1x1xf32> {
  %x = "top.Input"(%arg0) : (tensor<1x96x14x14xf32>) -> tensor<1x96x14x14xf32> loc("x")
  %y = "top.AvgPool"(%x) {kernel_shape = [14, 14], strides = [1, 1], pads = [0, 0, 0, 0], do_relu = true} : (tensor<1x96x14x14xf32>) -> tensor<1x96x1x1xf32> loc("y")
  return %y : tensor<1x96x1x1xf32>
}

// -----

// What is left of the last one may have no place for them.
// CHECK-LABEL: func.func @flat
// CHECK: "top.AvgPool"{{.*}}keepdims = true, kernel_shape = [14, 1]{{.*}} -> tensor<1x96x1x14xf32>
// CHECK-NEXT: "top.AvgPool"{{.*}}keepdims = false, kernel_shape = [1, 14]{{.*}} -> tensor<1x96xf32>
func.func @flat(%arg0: tensor<1x96x14x14xf32>) -> tensor<1x96xf32> {
  %x = "top.Input"(%arg0) : (tensor<1x96x14x14xf32>) -> tensor<1x96x14x14xf32> loc("x")
  %y = "top.AvgPool"(%x) {keepdims = false, kernel_shape = [14, 14], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x96x14x14xf32>) -> tensor<1x96xf32> loc("y")
  return %y : tensor<1x96xf32>
}

// -----

// Several lines of a tall one come first.
// CHECK-LABEL: func.func @tall
// CHECK: "top.AvgPool"{{.*}}kernel_shape = [12, 1]{{.*}}strides = [12, 1]{{.*}} -> tensor<1x32x8x40xf32>
// CHECK-NEXT: "top.AvgPool"{{.*}}kernel_shape = [8, 1]{{.*}} -> tensor<1x32x1x40xf32>
// CHECK-NEXT: "top.AvgPool"{{.*}}kernel_shape = [1, 40]{{.*}} -> tensor<1x32x1x1xf32>
func.func @tall(%arg0: tensor<1x32x96x40xf32>) -> tensor<1x32x1x1xf32> {
  %x = "top.Input"(%arg0) : (tensor<1x32x96x40xf32>) -> tensor<1x32x96x40xf32> loc("x")
  %y = "top.AvgPool"(%x) {kernel_shape = [96, 40], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x32x96x40xf32>) -> tensor<1x32x1x1xf32> loc("y")
  return %y : tensor<1x32x1x1xf32>
}

// -----

// Maxima of windows with padding, apart in both dimensions.
// CHECK-LABEL: func.func @stem
// CHECK: "top.MaxPool"{{.*}}kernel_shape = [3, 1]{{.*}}pads = [1, 0, 1, 0]{{.*}}strides = [2, 1]{{.*}} -> tensor<1x64x56x112xf32>
// CHECK-NEXT: "top.MaxPool"{{.*}}kernel_shape = [1, 3]{{.*}}pads = [0, 1, 0, 1]{{.*}}strides = [1, 2]{{.*}} -> tensor<1x64x56x56xf32>
func.func @stem(%arg0: tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32> {
  %x = "top.Input"(%arg0) : (tensor<1x64x112x112xf32>) -> tensor<1x64x112x112xf32> loc("x")
  %y = "top.MaxPool"(%x) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]} : (tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32> loc("y")
  return %y : tensor<1x64x56x56xf32>
}

// -----

// Means with padding have windows of different sizes; pairs of few columns are as fast at once.
// CHECK-LABEL: func.func @stay
// CHECK: "top.AvgPool"{{.*}}kernel_shape = [3, 3]
// CHECK-NEXT: "top.MaxPool"{{.*}}kernel_shape = [2, 2]
// CHECK-NEXT: return
func.func @stay(%arg0: tensor<1x64x3x3xf32>) -> tensor<1x64x2x2xf32> {
  %x = "top.Input"(%arg0) : (tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32> loc("x")
  %a = "top.AvgPool"(%x) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32> loc("a")
  %y = "top.MaxPool"(%a) {kernel_shape = [2, 2], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x64x3x3xf32>) -> tensor<1x64x2x2xf32> loc("y")
  return %y : tensor<1x64x2x2xf32>
}

// -----

// In INT8 means of columns are floats: they have no range of their own. Maxima of short
// lines are one pool.
// CHECK-LABEL: module @m
// CHECK: "top.MaxPool"{{.*}}kernel_shape = [3, 3]
// CHECK-NEXT: "top.AvgPool"{{.*}}kernel_shape = [14, 1]{{.*}} -> tensor<1x96x1x14xf32>
// CHECK-NEXT: "top.AvgPool"{{.*}}kernel_shape = [1, 14]{{.*}} -> tensor<1x96x1x1x!quant.calibrated<f32<0.000000e+00:2.000000e+00>>>
module @m attributes {module.chip = "bm1684x", module.mode = "INT8"} {
  func.func @main(%arg0: tensor<1x96x14x14xf32>) -> tensor<1x96x1x1x!quant.calibrated<f32<0.0:2.0>>> {
    %x = "top.Input"(%arg0) : (tensor<1x96x14x14xf32>) -> tensor<1x96x14x14x!quant.calibrated<f32<0.0:4.0>>> loc("x")
    %m = "top.MaxPool"(%x) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (tensor<1x96x14x14x!quant.calibrated<f32<0.0:4.0>>>) -> tensor<1x96x14x14x!quant.calibrated<f32<0.0:4.0>>> loc("m")
    %y = "top.AvgPool"(%m) {kernel_shape = [14, 14], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x96x14x14x!quant.calibrated<f32<0.0:4.0>>>) -> tensor<1x96x1x1x!quant.calibrated<f32<0.0:2.0>>> loc("y")
    return %y : tensor<1x96x1x1x!quant.calibrated<f32<0.0:2.0>>>
  }
}

// -----

// The range of maxima of columns is that of what they are taken from.
// CHECK-LABEL: module @maxima
// CHECK: "top.MaxPool"{{.*}}kernel_shape = [9, 1]{{.*}} -> tensor<1x1x240x320x!quant.calibrated<f32<0.000000e+00:4.000000e+00>>>
// CHECK-NEXT: "top.MaxPool"{{.*}}kernel_shape = [1, 9]{{.*}} -> tensor<1x1x240x320x!quant.calibrated<f32<0.000000e+00:3.000000e+00>>>
module @maxima attributes {module.chip = "bm1684x", module.mode = "INT8"} {
  func.func @main(%arg0: tensor<1x1x240x320xf32>) -> tensor<1x1x240x320x!quant.calibrated<f32<0.0:3.0>>> {
    %x = "top.Input"(%arg0) : (tensor<1x1x240x320xf32>) -> tensor<1x1x240x320x!quant.calibrated<f32<0.0:4.0>>> loc("x")
    %y = "top.MaxPool"(%x) {kernel_shape = [9, 9], strides = [1, 1], pads = [4, 4, 4, 4]} : (tensor<1x1x240x320x!quant.calibrated<f32<0.0:4.0>>>) -> tensor<1x1x240x320x!quant.calibrated<f32<0.0:3.0>>> loc("y")
    return %y : tensor<1x1x240x320x!quant.calibrated<f32<0.0:3.0>>>
  }
}
