// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --canonicalize --no-locations | filecheck %s

// FactorsOfFilter: what each input channel is multiplied by stands in front of the convolution, what
// each output channel is multiplied by behind it. LengthsOfFilter: the sums of the filter's squares
// are a product of the factors' squares.
// CHECK-LABEL: func.func @modulated
// CHECK: "top.MatMul"({{.*}}(tensor<1x3xf32>, tensor<3x4xf32>, none) -> tensor<1x4xf32>
// CHECK-NOT: "top.Reduce"
// CHECK: [[X:%.+]] = "top.Mul"({{.*}}(tensor<1x3x8x8xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x8x8xf32>
// CHECK: [[W:%.+]] = "top.Weight"() : () -> tensor<4x3x3x3xf32>
// CHECK: [[Y:%.+]] = "top.Conv"([[X]], [[W]]{{.*}}weight_is_coeff = 1
// CHECK: "top.Mul"([[Y]]{{.*}}tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
func.func @modulated(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<1x3x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  %s = "top.Input"(%arg1) : (tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32> loc("s")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %m = "top.Mul"(%w, %s) : (tensor<4x3x3x3xf32>, tensor<1x3x1x1xf32>) -> tensor<4x3x3x3xf32> loc("m")
  %q = "top.Mul"(%m, %m) : (tensor<4x3x3x3xf32>, tensor<4x3x3x3xf32>) -> tensor<4x3x3x3xf32> loc("q")
  %r = "top.Reduce"(%q) {axes = [1, 2, 3], keepdims = true, mode = "ReduceSum"} : (tensor<4x3x3x3xf32>) -> tensor<4x1x1x1xf32> loc("r")
  %i = "top.Rsqrt"(%r) : (tensor<4x1x1x1xf32>) -> tensor<4x1x1x1xf32> loc("i")
  %d = "top.Mul"(%m, %i) : (tensor<4x3x3x3xf32>, tensor<4x1x1x1xf32>) -> tensor<4x3x3x3xf32> loc("d")
  %y = "top.Conv"(%x, %d, %n) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], weight_is_coeff = 0 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x8x8xf32> loc("y")
  return %y : tensor<1x4x8x8xf32>
}

// -----

// A factor of each tap is no factor of a channel.
// CHECK-LABEL: func.func @taps
// CHECK: [[M:%.+]] = "top.Mul"
// CHECK: "top.Conv"({{.*}}, [[M]]
func.func @taps(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<1x1x3x1xf32>) -> tensor<1x4x8x8xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  %s = "top.Input"(%arg1) : (tensor<1x1x3x1xf32>) -> tensor<1x1x3x1xf32> loc("s")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %m = "top.Mul"(%w, %s) : (tensor<4x3x3x3xf32>, tensor<1x1x3x1xf32>) -> tensor<4x3x3x3xf32> loc("m")
  %y = "top.Conv"(%x, %m, %n) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], weight_is_coeff = 0 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x8x8xf32> loc("y")
  return %y : tensor<1x4x8x8xf32>
}

// -----

// ConvToDeconv: zeros behind each pixel are those of a transposed convolution.
// CHECK-LABEL: func.func @between_zeros
// CHECK-NOT: "top.Pad"
// CHECK: "top.Deconv"({{.*}}kernel_shape = [3, 3]{{.*}}output_padding = [1, 1]{{.*}}pads = [0, 0, 1, 1]{{.*}}strides = [2, 2]{{.*}}(tensor<1x3x4x4xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x9x9xf32>
func.func @between_zeros(%arg0: tensor<1x3x4x4xf32>) -> tensor<1x4x9x9xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 3, 4, 1, 4, 1]} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x1x4x1xf32> loc("a")
  %p = "top.Pad"(%a) {mode = "constant", paddings = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1], val = 0.0 : f64} : (tensor<1x3x4x1x4x1xf32>) -> tensor<1x3x4x2x4x2xf32> loc("p")
  %z = "top.Reshape"(%p) {shape = [1, 3, 8, 8]} : (tensor<1x3x4x2x4x2xf32>) -> tensor<1x3x8x8xf32> loc("z")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %y = "top.Conv"(%z, %w, %n) {kernel_shape = [3, 3], strides = [1, 1], pads = [2, 2, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x9x9xf32> loc("y")
  return %y : tensor<1x4x9x9xf32>
}

// -----

// What is padded with is no zero.
// CHECK-LABEL: func.func @between_ones
// CHECK: "top.Pad"
// CHECK: "top.Conv"
func.func @between_ones(%arg0: tensor<1x3x4x4xf32>) -> tensor<1x4x9x9xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("x")
  %a = "top.Reshape"(%x) {shape = [1, 3, 4, 1, 4, 1]} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x1x4x1xf32> loc("a")
  %p = "top.Pad"(%a) {mode = "constant", paddings = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1], val = 1.0 : f64} : (tensor<1x3x4x1x4x1xf32>) -> tensor<1x3x4x2x4x2xf32> loc("p")
  %z = "top.Reshape"(%p) {shape = [1, 3, 8, 8]} : (tensor<1x3x4x2x4x2xf32>) -> tensor<1x3x8x8xf32> loc("z")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %y = "top.Conv"(%z, %w, %n) {kernel_shape = [3, 3], strides = [1, 1], pads = [2, 2, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x9x9xf32> loc("y")
  return %y : tensor<1x4x9x9xf32>
}
