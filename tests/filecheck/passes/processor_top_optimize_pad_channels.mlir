// RUN: tpu-opt %s --split-input-file --processor-top-optimize --no-locations | filecheck %s

// A row of zeros in front of the others is a weight.
module @row attributes {module.state = "TOP_F32", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x784x128xf32>) -> tensor<1x785x128xf32> {
    %0 = "top.None"() : () -> none
    %1 = "top.Input"(%arg0) : (tensor<1x784x128xf32>) -> tensor<1x784x128xf32> loc("x")
    %2 = "top.Pad"(%1, %0) {mode = "constant", paddings = [0, 1, 0, 0, 0, 0], val = 0.000000e+00 : f64} : (tensor<1x784x128xf32>, none) -> tensor<1x785x128xf32> loc("y")
    return %2 : tensor<1x785x128xf32>
  }
}

// CHECK-LABEL: module @row
// CHECK: [[X:%.*]] = "top.Input"
// CHECK: [[W:%.*]] = "top.Weight"() : () -> tensor<1x1x128xf32>
// CHECK-NEXT: "top.Concat"([[W]], [[X]]) {axis = 1 : si32

// -----

// Columns have a form of their own, and a constant larger than what it is beside is no weight.
module @others attributes {module.state = "TOP_F32", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x4x8x8xf32>) -> (tensor<1x4x8x9xf32>, tensor<1x9x8x8xf32>) {
    %0 = "top.None"() : () -> none
    %1 = "top.Input"(%arg0) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("x")
    %2 = "top.Pad"(%1, %0) {mode = "constant", paddings = [0, 0, 0, 0, 0, 0, 0, 1], val = 0.000000e+00 : f64} : (tensor<1x4x8x8xf32>, none) -> tensor<1x4x8x9xf32> loc("y")
    %3 = "top.Pad"(%1, %0) {mode = "constant", paddings = [0, 0, 0, 0, 0, 5, 0, 0], val = 0.000000e+00 : f64} : (tensor<1x4x8x8xf32>, none) -> tensor<1x9x8x8xf32> loc("z")
    return %2, %3 : tensor<1x4x8x9xf32>, tensor<1x9x8x8xf32>
  }
}

// CHECK-LABEL: module @others
// CHECK-NOT: "top.Concat"
