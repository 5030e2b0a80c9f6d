// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Rows over their length.

// As `normalize` exports it. Its 1e-12 is squared, and a mean has an eighth of a sum.
func.func @over_length(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %l = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceL2"} : (tensor<4x8xf32>) -> tensor<*xf32> loc("l")
  %c = "top.Clip"(%l) {min = 1.0e-12 : f64, max = 3.4028234663852886E+38 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("c")
  %t = "top.Expand"(%c) {shape = [4, 8]} : (tensor<*xf32>) -> tensor<*xf32> loc("t")
  %y = "top.Div"(%x, %t) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @over_length
// CHECK: %[[N:.*]] = "top.None"
// CHECK: %[[Y:.*]] = "top.RMSNorm"(%{{.*}}, %[[N]]){{.*}}eps = 1.250000e-25 : f64{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: %[[Z:.*]] = "top.MulConst"(%[[Y]]){{.*}}const_val = 0.353553{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %[[Z]] : tensor<4x8xf32>

// -----

// A mean of squares, and a weight behind it.
func.func @language_model(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8xf32> loc("random_8")
  %s = "top.Mul"(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<*xf32> loc("s")
  %m = "top.Reduce"(%s) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<*xf32>) -> tensor<*xf32> loc("m")
  %a = "top.AddConst"(%m) {const_val = 0.5 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("a")
  %r = "top.Sqrt"(%a) : (tensor<*xf32>) -> tensor<*xf32> loc("r")
  %i = "top.Reciprocal"(%r) : (tensor<*xf32>) -> tensor<*xf32> loc("i")
  %y = "top.Mul"(%x, %i) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  %z = "top.Mul"(%w, %y) : (tensor<8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %z : tensor<*xf32>
}

// CHECK-LABEL: func.func @language_model
// CHECK: %[[W:.*]] = "top.Weight"(){{.*}}-> tensor<8xf32>
// CHECK: %[[Y:.*]] = "top.RMSNorm"(%{{.*}}, %[[W]]){{.*}}eps = 5.000000e-01 : f64{{.*}}-> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]] : tensor<4x8xf32>

// -----

// Rows shorter than the guard would come out longer.
func.func @large_guard(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %l = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceL2"} : (tensor<4x8xf32>) -> tensor<*xf32> loc("l")
  %c = "top.MaxConst"(%l) {const_val = 2.0e-6 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("c")
  %y = "top.Div"(%x, %c) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @large_guard
// CHECK: "top.Reduce"
// CHECK: "top.MaxConst"
// CHECK: "top.Div"

// -----

// Columns are not rows.
func.func @columns(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %l = "top.Reduce"(%x) {axes = [0], keepdims = true, mode = "ReduceL2"} : (tensor<4x8xf32>) -> tensor<*xf32> loc("l")
  %y = "top.Div"(%x, %l) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK: "top.Reduce"
// CHECK: "top.Div"

// -----

// Rows less their mean: a LayerNorm.
func.func @centered(%arg_x: tensor<4x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<4x8xf32>) -> tensor<*xf32> loc("m")
  %c = "top.Sub"(%x, %m) : (tensor<4x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
  %y = "top.RMSNorm"(%c, %none) {eps = 0.5 : f64} : (tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @centered
// CHECK: %[[Y:.*]] = "top.LayerNorm"({{.*}}axis = 1 : si32, eps = 5.000000e-01 : f64, normalized_shape = [8]
// CHECK-NEXT: return %[[Y]]

// -----

// Less the mean of another dimension, or of something else, it is none.
func.func @not_centered(%arg_x: tensor<8x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("x")
  %none = "top.None"() : () -> none
  %m = "top.Reduce"(%x) {axes = [0], keepdims = true, mode = "ReduceMean"} : (tensor<8x8xf32>) -> tensor<*xf32> loc("m")
  %c = "top.Sub"(%x, %m) : (tensor<8x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("c")
  %y = "top.RMSNorm"(%c, %none) {eps = 0.5 : f64} : (tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  %a = "top.Abs"(%x) : (tensor<8x8xf32>) -> tensor<*xf32> loc("a")
  %n = "top.Reduce"(%a) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<*xf32>) -> tensor<*xf32> loc("n")
  %d = "top.Sub"(%x, %n) : (tensor<8x8xf32>, tensor<*xf32>) -> tensor<*xf32> loc("d")
  %z = "top.RMSNorm"(%d, %none) {eps = 0.5 : f64} : (tensor<*xf32>, none) -> tensor<*xf32> loc("z")
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @not_centered
// CHECK: "top.RMSNorm"
// CHECK: "top.RMSNorm"
