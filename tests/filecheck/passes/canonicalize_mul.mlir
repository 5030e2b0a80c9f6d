// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --tpu-canonicalize --no-locations | filecheck %s

// Mul, MulConst, Div and Pow: constants, and activations spelled out.

// x * sigmoid(x).
func.func @silu(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %s = "top.Sigmoid"(%x) : (tensor<4x8xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Mul"(%s, %x) : (tensor<*xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @silu
// CHECK: %1 = "top.SiLU"(%0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// sigmoid(z) is not that of x.
func.func @sigmoid_of_another(%arg_x: tensor<4x8xf32>, %arg_z: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("z")
  %s = "top.Sigmoid"(%z) : (tensor<4x8xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Mul"(%s, %x) : (tensor<*xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @sigmoid_of_another
// CHECK: %2 = "top.Sigmoid"(%1){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %3 = "top.Mul"(%2, %0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %3 : tensor<4x8xf32>

// -----

// The sigmoid is needed anyway.
func.func @sigmoid_used_twice(%arg_x: tensor<4x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %s = "top.Sigmoid"(%x) : (tensor<4x8xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Mul"(%s, %x) : (tensor<*xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %s, %y : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @sigmoid_used_twice
// CHECK: %1 = "top.Sigmoid"(%0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %2 = "top.Mul"(%1, %0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>

// -----

// One element is a constant.
func.func @number(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1xf32> loc("half")
  %y = "top.Mul"(%w, %x) : (tensor<1xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @number
// CHECK: %1 = "top.MulConst"(%0){{.*}}const_val = 5.000000e-01 : f64{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// One element for each head of products: rows lie over the lanes, so that it is no Scale of channels.
func.func @heads(%arg_x: tensor<2x4x3x6xf32>, %arg_y: tensor<2x4x6x3xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x4x3x6xf32>) -> tensor<2x4x3x6xf32> loc("x")
  %k = "top.Input"(%arg_y) : (tensor<2x4x6x3xf32>) -> tensor<2x4x6x3xf32> loc("k")
  %w = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %p = "top.MatMul"(%x, %k, %n) : (tensor<2x4x3x6xf32>, tensor<2x4x6x3xf32>, none) -> tensor<*xf32> loc("p")
  %c = "top.MulConst"(%p) {const_val = 0.5 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("c")
  %y = "top.Mul"(%c, %w) : (tensor<*xf32>, tensor<1x4x1x1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @heads
// CHECK-NOT: top.Scale
// CHECK: "top.Mul"({{.*}}-> tensor<2x4x3x3xf32>
// CHECK-NEXT: return

// -----

// One element a channel of four dimensions: a Scale.
func.func @channels(%arg_x: tensor<2x4x3x3xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x4x1x1xf32> loc("random_1x4x1x1")
  %y = "top.Mul"(%x, %w) : (tensor<2x4x3x3xf32>, tensor<1x4x1x1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @channels
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<1x4x1x1xf32>
// CHECK-NEXT: %3 = "top.Scale"(%0, %1, %2){{.*}}-> tensor<2x4x3x3xf32>
// CHECK-NEXT: return %3 : tensor<2x4x3x3xf32>

// -----

// Three dimensions are no image.
func.func @channels_of_three_dimensions(%arg_x: tensor<2x4x3xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x4x1xf32> loc("random_1x4x1")
  %y = "top.Mul"(%x, %w) : (tensor<2x4x3xf32>, tensor<1x4x1xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @channels_of_three_dimensions
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x4x1xf32>
// CHECK-NEXT: %2 = "top.Mul"(%0, %1){{.*}}-> tensor<2x4x3xf32>
// CHECK-NEXT: return %2 : tensor<2x4x3xf32>

// -----

// Two weights in a row are one.
func.func @two_weights(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x8xf32> loc("random_1x8")
  %v = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %s = "top.Mul"(%x, %w) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Mul"(%s, %v) : (tensor<*xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @two_weights
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %2 = "top.Mul"(%0, %1){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %2 : tensor<4x8xf32>

// -----

// 0.5 * x * (1 + erf(x / sqrt(2))).
func.func @gelu(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %h = "top.MulConst"(%x) {const_val = 0.5} : (tensor<4x8xf32>) -> tensor<*xf32> loc("h")
  %m = "top.MulConst"(%x) {const_val = 0.70710677} : (tensor<4x8xf32>) -> tensor<*xf32> loc("m")
  %e = "top.Erf"(%m) : (tensor<*xf32>) -> tensor<*xf32> loc("e")
  %p = "top.AddConst"(%e) {const_val = 1.0} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Mul"(%h, %p) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @gelu
// CHECK: %1 = "top.GELU"(%0){{.*}}approx_mode = "normal"{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// Another factor inside erf.
func.func @not_gelu(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %h = "top.MulConst"(%x) {const_val = 0.5} : (tensor<4x8xf32>) -> tensor<*xf32> loc("h")
  %m = "top.MulConst"(%x) {const_val = 0.8} : (tensor<4x8xf32>) -> tensor<*xf32> loc("m")
  %e = "top.Erf"(%m) : (tensor<*xf32>) -> tensor<*xf32> loc("e")
  %p = "top.AddConst"(%e) {const_val = 1.0} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Mul"(%h, %p) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @not_gelu
// CHECK: %1 = "top.MulConst"(%0){{.*}}const_val = 5.000000e-01 : f64{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %2 = "top.MulConst"(%0){{.*}}const_val = 8.000000e-01 : f64{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %3 = "top.Erf"(%2){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %4 = "top.AddConst"(%3){{.*}}const_val = 1.000000e+00 : f64{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %5 = "top.Mul"(%1, %4){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %5 : tensor<4x8xf32>

// -----

// Factors meet; 4 * 0.25 is nothing to do.
func.func @factors(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %a = "top.MulConst"(%x) {const_val = 4.0} : (tensor<4x8xf32>) -> tensor<*xf32> loc("a")
  %b = "top.MulConst"(%a) {const_val = 0.25} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Abs"(%b) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @factors
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// Within 2e-5 of 1.
func.func @nearly_one(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %a = "top.MulConst"(%x) {const_val = 1.00001} : (tensor<4x8xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Abs"(%a) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @nearly_one
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// Not within 2e-5 of 1.
func.func @not_nearly_one(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %a = "top.MulConst"(%x) {const_val = 1.0001} : (tensor<4x8xf32>) -> tensor<*xf32> loc("a")
  %y = "top.Abs"(%a) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @not_nearly_one
// CHECK: %1 = "top.MulConst"(%0){{.*}}const_val = 1.000100e+00 : f64{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %2 = "top.Abs"(%1){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %2 : tensor<4x8xf32>

// -----

// The factor goes through the Reshape into filter and bias.
func.func @into_weights(%arg_x: tensor<2x4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
  %b = "top.Weight"() : () -> tensor<6xf32> loc("random_6")
  %p = "top.MatMul"(%x, %w, %b) : (tensor<2x4x8xf32>, tensor<8x6xf32>, tensor<6xf32>) -> tensor<*xf32> loc("p")
  %r = "top.Reshape"(%p) {shape = [8, 6]} : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  %y = "top.MulConst"(%r) {const_val = 2.0} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @into_weights
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<8x6xf32>
// CHECK-NEXT: %2 = "top.Weight"(){{.*}}-> tensor<6xf32>
// CHECK-NEXT: %3 = "top.MatMul"(%0, %1, %2){{.*}}-> tensor<2x4x6xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}shape = [8, 6]{{.*}}-> tensor<8x6xf32>
// CHECK-NEXT: return %4 : tensor<8x6xf32>

// -----

// A negative factor does not pass a relu.
func.func @negative_behind_relu(%arg_x: tensor<2x4x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
  %p = "top.MatMul"(%x, %w, %none) {do_relu = true} : (tensor<2x4x8xf32>, tensor<8x6xf32>, none) -> tensor<*xf32> loc("p")
  %y = "top.MulConst"(%p) {const_val = -2.0} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @negative_behind_relu
// CHECK: %2 = "top.Weight"(){{.*}}-> tensor<8x6xf32>
// CHECK-NEXT: %3 = "top.MatMul"(%1, %2, %0){{.*}}do_relu = true{{.*}}-> tensor<2x4x6xf32>
// CHECK-NEXT: %4 = "top.MulConst"(%3){{.*}}const_val = -2.000000e+00 : f64{{.*}}-> tensor<2x4x6xf32>
// CHECK-NEXT: return %4 : tensor<2x4x6xf32>

// -----

// Division by a weight.
func.func @quotient(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x8xf32> loc("random_1x8")
  %y = "top.Div"(%x, %w) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @quotient
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x8xf32>
// CHECK-NEXT: %2 = "top.Mul"(%0, %1){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %2 : tensor<4x8xf32>

// -----

// There is no 1 / 0.
func.func @quotient_by_zero(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x8xf32> loc("zeros_1x8")
  %y = "top.Div"(%x, %w) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @quotient_by_zero
// CHECK: %1 = "top.Weight"(){{.*}}-> tensor<1x8xf32>
// CHECK-NEXT: %2 = "top.Div"(%0, %1){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %2 : tensor<4x8xf32>

// -----

// x / (1 + |x|).
func.func @softsign(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %a = "top.Abs"(%x) : (tensor<4x8xf32>) -> tensor<*xf32> loc("a")
  %b = "top.AddConst"(%a) {const_val = 1.0} : (tensor<*xf32>) -> tensor<*xf32> loc("b")
  %y = "top.Div"(%x, %b) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @softsign
// CHECK: %1 = "top.Softsign"(%0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// x ** 2.
func.func @square(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %y = "top.Pow"(%x) {exponent = 2.0} : (tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @square
// CHECK: %1 = "top.Mul"(%0, %0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// x ** 0.5.
func.func @root(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %y = "top.Pow"(%x) {exponent = 0.5} : (tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @root
// CHECK: %1 = "top.Sqrt"(%0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>

// -----

// x ** 3 stays.
func.func @cube(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %y = "top.Pow"(%x) {exponent = 3.0} : (tensor<4x8xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @cube
// CHECK: %1 = "top.Pow"(%0){{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %1 : tensor<4x8xf32>
