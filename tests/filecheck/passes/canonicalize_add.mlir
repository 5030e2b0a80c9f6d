// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Add: constants move to the right, into other ops, or away.

// A weight moves to the right.
func.func @weight_on_the_left(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %y = "top.Add"(%w, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @weight_on_the_left
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %2 = "top.Add"(%0, %1){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %2 : tensor<4x8xf32>

// -----

// Coefficients belong to their operands: nothing moves.
func.func @coefficients(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %y = "top.Add"(%w, %x) {coeff = [2.0, 1.0]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @coefficients
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %2 = "top.Add"(%1, %0){{.*}}coeff = [2.000000e+00, 1.000000e+00]{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %2 : tensor<4x8xf32>

// -----

// One element a channel of four dimensions: a Scale.
func.func @channels(%arg_x: tensor<2x4x3x3xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %y = "top.Add"(%x, %w) {do_relu = true} : (tensor<2x4x3x3xf32>, tensor<1x4x1x1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @channels
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %3 = "top.Scale"(%0, %2, %1){{.*}}do_relu = true{{.*}}-> tensor<2x4x3x3xf32>
// CHECK-NEXT: return %3 : tensor<2x4x3x3xf32>

// -----

// As many elements as channels, but along the last dimension: no Scale.
func.func @last_dimension(%arg_x: tensor<1x8x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x8x8xf32>) -> tensor<1x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8xf32> loc("random_8")
  %y = "top.Add"(%x, %w) : (tensor<1x8x8xf32>, tensor<8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @last_dimension
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x1x8xf32>
// CHECK-NEXT: %2 = "top.Add"(%0, %1){{.*}}-> tensor<1x8x8xf32>
// CHECK-NEXT: return %2 : tensor<1x8x8xf32>

// -----

// One element is a constant.
func.func @one_element(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1xf32> loc("half")
  %y = "top.Add"(%x, %w) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @one_element
// CHECK: %1 = "top.AddConst"(%0){{.*}}const_val = 5.000000e-01 : f64{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// Eight zeros are one zero, which adds nothing.
func.func @zeros(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8xf32> loc("zeros_8")
  %y = "top.Add"(%x, %w) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<*xf32> loc("y")
  %z = "top.Abs"(%y) : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @zeros
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// The relu is still to be done.
func.func @zeros_and_relu(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8xf32> loc("zeros_8")
  %y = "top.Add"(%x, %w) {do_relu = true} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @zeros_and_relu
// CHECK: %1 = "top.AddConst"(%0){{.*}}const_val = 0.000000e+00 : f64{{.*}}do_relu = true{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// These zeros make four rows of one.
func.func @zeros_that_broadcast(%arg_x: tensor<1x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x8xf32> loc("zeros_4x8")
  %y = "top.Add"(%x, %w) : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @zeros_that_broadcast
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %2 = "top.Add"(%0, %1){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %2 : tensor<4x8xf32>

// -----

// Two weights in a row are one.
func.func @two_weights(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x8xf32> loc("random_1x8")
  %v = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %s = "top.Add"(%x, %w) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Add"(%s, %v) : (tensor<*xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @two_weights
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %2 = "top.Add"(%0, %1){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %2 : tensor<4x8xf32>

// -----

// A relu between them keeps them apart.
func.func @two_weights_and_relu(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x8xf32> loc("random_1x8")
  %v = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %s = "top.Add"(%x, %w) {do_relu = true} : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Add"(%s, %v) : (tensor<*xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @two_weights_and_relu
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x8xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %3 = "top.Add"(%0, %1){{.*}}do_relu = true{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %4 = "top.Add"(%3, %2){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %4 : tensor<4x8xf32>

// -----

// One for each image and one for each line: the sum of both would be one for each line of each image.
func.func @two_weights_apart(%arg_x: tensor<64x3x4x5xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<64x3x4x5xf32>) -> tensor<64x3x4x5xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<64x1x1x1xf32> loc("random_64x1x1x1")
  %v = "top.Weight"() : () -> tensor<1x4x1xf32> loc("random_1x4x1")
  %s = "top.Add"(%x, %w) : (tensor<64x3x4x5xf32>, tensor<64x1x1x1xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Add"(%s, %v) : (tensor<*xf32>, tensor<1x4x1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @two_weights_apart
// CHECK: "top.Add"(%0, %{{.*}}-> tensor<64x3x4x5xf32>
// CHECK-NEXT: "top.Add"({{.*}}-> tensor<64x3x4x5xf32>
// CHECK-NEXT: return

// -----

// Operands get one rank.
func.func @ranks(%arg_x: tensor<2x4x8xf32>, %arg_r: tensor<8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32> loc("x")
  %r = "top.Input"(%arg_r) : (tensor<8xf32>) -> tensor<8xf32> loc("r")
  %y = "top.Add"(%x, %r) : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @ranks
// CHECK: %2 = "top.Reshape"(%1){{.*}}-> tensor<1x1x8xf32>
// CHECK-NEXT: %3 = "top.Add"(%0, %2){{.*}}-> tensor<2x4x8xf32>
// CHECK-NEXT: return %3 : tensor<2x4x8xf32>
