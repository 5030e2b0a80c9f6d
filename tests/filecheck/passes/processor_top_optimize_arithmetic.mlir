// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --processor-top-optimize --no-locations | filecheck %s

// Scale, sums and idioms for the chip.

// Filter and bias take it in.
func.func @scale_into_conv(%arg_x: tensor<1x3x6x6xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
  %s = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %t = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("ones_1x4x1x1")
  %c = "top.Conv"(%x, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x3x6x6xf32>, tensor<4x3x3x3xf32>, none) -> tensor<*xf32> loc("c")
  %y = "top.Scale"(%c, %s, %t) {do_relu = true} : (tensor<*xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @scale_into_conv
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<4x3x3x3xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<4xf32>
// CHECK-NEXT: %3 = "top.Conv"(%0, %1, %2){{.*}}do_relu = true{{.*}}kernel_shape = [3, 3]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<1x4x4x4xf32>
// CHECK-NEXT: return %3 : tensor<1x4x4x4xf32>

// -----

// Else it is a convolution of its own, a group a channel.
func.func @scale_to_conv(%arg_x: tensor<1x4x6x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> loc("x")
  %s = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %t = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("ones_1x4x1x1")
  %y = "top.Scale"(%x, %s, %t) : (tensor<1x4x6x6xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @scale_to_conv
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<4x1x1x1xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<4xf32>
// CHECK-NEXT: %3 = "top.Conv"(%0, %1, %2){{.*}}group = 4 : i64{{.*}}kernel_shape = [1, 1]{{.*}}pads = [0, 0, 0, 0]{{.*}}-> tensor<1x4x6x6xf32>
// CHECK-NEXT: return %3 : tensor<1x4x6x6xf32>

// -----

// Two at a time, the relu at the end.
func.func @sum_of_three(%arg_x: tensor<4x8xf32>, %arg_z: tensor<4x8xf32>, %arg_v: tensor<1x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("z")
  %v = "top.Input"(%arg_v) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("v")
  %y = "top.Add"(%x, %z, %v) {coeff = [1.0, 2.0, 3.0], do_relu = true} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @sum_of_three
// CHECK: %3 = "top.Add"(%0, %1){{.*}}coeff = [1.000000e+00, 2.000000e+00]{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %4 = "top.Add"(%3, %2){{.*}}coeff = [1.000000e+00, 3.000000e+00]{{.*}}do_relu = true{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %4 : tensor<4x8xf32>

// -----

// x / sqrt(z).
func.func @reciprocal_root(%arg_x: tensor<4x8xf32>, %arg_z: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("z")
  %s = "top.Sqrt"(%z) : (tensor<4x8xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Div"(%x, %s) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @reciprocal_root
// CHECK: %2 = "top.Rsqrt"(%1){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %3 = "top.Mul"(%0, %2){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %3 : tensor<4x8xf32>

// -----

// The root itself is needed.
func.func @root_used_twice(%arg_x: tensor<4x8xf32>, %arg_z: tensor<4x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("z")
  %s = "top.Sqrt"(%z) : (tensor<4x8xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Div"(%x, %s) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %s, %y : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @root_used_twice
// CHECK: %2 = "top.Sqrt"(%1){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %3 = "top.Div"(%0, %2){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>

// -----

// The sign does not matter.
func.func @square(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %a = "top.Abs"(%x) : (tensor<4x8xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Mul"(%a, %a) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @square
// CHECK: %1 = "top.Mul"(%0, %0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// x * sigmoid(1.702 * x).
func.func @quick_gelu(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %m = "top.MulConst"(%x) {const_val = 1.702} : (tensor<4x8xf32>) -> tensor<*xf32> loc("m")
  %s = "top.Sigmoid"(%m) : (tensor<*xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Mul"(%x, %s) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @quick_gelu
// CHECK: %1 = "top.GELU"(%0){{.*}}approx_mode = "sigm"{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>
