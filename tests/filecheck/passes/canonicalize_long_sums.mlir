// RUN: tpu-opt %s --split-input-file --shape-infer --canonicalize --no-locations | filecheck %s

// Sums over their terms are means, roots of squares lengths.

// CHECK-LABEL: func.func @mean
// CHECK: %1 = "top.Reduce"(%0){{.*}}mode = "ReduceMean"
// CHECK-NEXT: return %1
func.func @mean(%arg_x: tensor<2x3x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("x")
  %s = "top.Reduce"(%x) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<2x3x8xf32>) -> tensor<*xf32> loc("s")
  %y = "top.MulConst"(%s) {const_val = 0.125 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// Twice the mean: the largest factor that is left.
// CHECK-LABEL: func.func @twice
// CHECK: %1 = "top.Reduce"(%0){{.*}}mode = "ReduceMean"
// CHECK-NEXT: %2 = "top.MulConst"(%1) {const_val = 2.000000e+00 : f64
// CHECK-NEXT: return %2
func.func @twice(%arg_x: tensor<2x3x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("x")
  %s = "top.Reduce"(%x) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<2x3x8xf32>) -> tensor<*xf32> loc("s")
  %y = "top.MulConst"(%s) {const_val = 0.25 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// More is no mean.
// CHECK-LABEL: func.func @no_mean
// CHECK: %1 = "top.Reduce"(%0){{.*}}mode = "ReduceSum"
// CHECK-NEXT: %2 = "top.MulConst"(%1) {const_val = 2.510000e-01 : f64
func.func @no_mean(%arg_x: tensor<2x3x8xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg_x) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("x")
  %s = "top.Reduce"(%x) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<2x3x8xf32>) -> tensor<*xf32> loc("s")
  %y = "top.MulConst"(%s) {const_val = 0.251 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// The root of a sum of squares, or of 4 of them.
// CHECK-LABEL: func.func @lengths
// CHECK: %1 = "top.Reduce"(%0){{.*}}mode = "ReduceL2"
// CHECK-NEXT: %2 = "top.Reduce"(%0){{.*}}mode = "ReduceL2"
// CHECK-NEXT: %3 = "top.MulConst"(%2) {const_val = 2.000000e+00 : f64
// CHECK-NEXT: return %1, %3
func.func @lengths(%arg_x: tensor<2x3x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("x")
  %q = "top.Mul"(%x, %x) : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<*xf32> loc("q")
  %s = "top.Reduce"(%q) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("s")
  %y = "top.Sqrt"(%s) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  %q1 = "top.Mul"(%x, %x) : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<*xf32> loc("q1")
  %s1 = "top.Reduce"(%q1) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("s1")
  %f = "top.MulConst"(%s1) {const_val = 4.0 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("f")
  %z = "top.Sqrt"(%f) : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

// A negative factor has no root, two factors no length.
// CHECK-LABEL: func.func @no_lengths
// CHECK-NOT: ReduceL2
// CHECK: return
func.func @no_lengths(%arg_x: tensor<2x3x8xf32>, %arg_w: tensor<2x3x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32> loc("w")
  %q = "top.Mul"(%x, %x) : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<*xf32> loc("q")
  %s = "top.Reduce"(%q) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("s")
  %f = "top.MulConst"(%s) {const_val = -4.0 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("f")
  %y = "top.Sqrt"(%f) : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  %p = "top.Mul"(%x, %w) : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<*xf32> loc("p")
  %t = "top.Reduce"(%p) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("t")
  %z = "top.Sqrt"(%t) : (tensor<*xf32>) -> tensor<*xf32> loc("z")
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}
