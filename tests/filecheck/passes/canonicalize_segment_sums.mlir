// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// SegmentSums: sums of all segments of a row are differences of its running sums.

// Zeros where columns begin a segment at or behind the row, as HuggingFace's Mamba-2 writes it.
func.func @filled(%arg_x: tensor<1x2x4x1xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x1xf32>) -> tensor<1x2x4x1xf32> loc("x")
  %t = "top.Weight"() : () -> tensor<1x1x4x4xf32> loc("upper_1x1x4x4")
  %a = "top.Where"(%t, %none, %x) {x_is_const = true, x_const_val = 0.0 : f64} : (tensor<1x1x4x4xf32>, none, tensor<1x2x4x1xf32>) -> tensor<*xf32> loc("a")
  %s = "top.CumSum"(%a, %none) {axis = 2 : i64} : (tensor<*xf32>, none) -> tensor<*xf32> loc("s")
  %m = "top.Weight"() : () -> tensor<1x1x4x4xf32> loc("below_1x1x4x4")
  %y = "top.Where"(%m, %s, %none) {y_is_const = true, y_const_val = -9.0 : f64} : (tensor<1x1x4x4xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @filled
// CHECK: %2 = "top.Weight"() : () -> tensor<1x1x4x4xf32>
// CHECK-NEXT: %3 = "top.CumSum"(%1, %0) {axis = 2 : i64} : (tensor<1x2x4x1xf32>, none) -> tensor<1x2x4x1xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<1x2x1x4xf32>
// CHECK-NEXT: %5 = "top.Sub"(%3, %4){{.*}}-> tensor<1x2x4x4xf32>
// CHECK-NEXT: %6 = "top.Where"(%2, %5, %0)
// CHECK-NEXT: return %6

// -----

// What lies above the diagonal is read: there the sums are 0, and differences are not.
func.func @all_read(%arg_x: tensor<1x2x4x1xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x1xf32>) -> tensor<1x2x4x1xf32> loc("x")
  %t = "top.Weight"() : () -> tensor<1x1x4x4xf32> loc("below_1x1x4x4")
  %a = "top.Where"(%t, %x, %none) {y_is_const = true, y_const_val = 0.0 : f64} : (tensor<1x1x4x4xf32>, tensor<1x2x4x1xf32>, none) -> tensor<*xf32> loc("a")
  %s = "top.CumSum"(%a, %none) {axis = 2 : i64} : (tensor<*xf32>, none) -> tensor<*xf32> loc("s")
  %m = "top.Weight"() : () -> tensor<1x1x4x4xf32> loc("upper_1x1x4x4")
  %y = "top.Where"(%m, %s, %none) {y_is_const = true, y_const_val = -9.0 : f64} : (tensor<1x1x4x4xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @all_read
// CHECK: "top.CumSum"{{.*}}-> tensor<1x2x4x4xf32>
// CHECK-NOT: "top.Sub"

// -----

// The diagonal is summed, too: segments begin with their column.
func.func @with_diagonal(%arg_x: tensor<1x2x4x1xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x2x4x1xf32>) -> tensor<1x2x4x1xf32> loc("x")
  %t = "top.Weight"() : () -> tensor<1x1x4x4xf32> loc("upper_1x1x4x4")
  %a = "top.Where"(%t, %x, %none) {y_is_const = true, y_const_val = 0.0 : f64} : (tensor<1x1x4x4xf32>, tensor<1x2x4x1xf32>, none) -> tensor<*xf32> loc("a")
  %s = "top.CumSum"(%a, %none) {axis = 2 : i64} : (tensor<*xf32>, none) -> tensor<*xf32> loc("s")
  %m = "top.Weight"() : () -> tensor<1x1x4x4xf32> loc("below_1x1x4x4")
  %y = "top.Where"(%m, %s, %none) {y_is_const = true, y_const_val = -9.0 : f64} : (tensor<1x1x4x4xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @with_diagonal
// CHECK: "top.CumSum"{{.*}}-> tensor<1x2x4x4xf32>
// CHECK-NOT: "top.Sub"
