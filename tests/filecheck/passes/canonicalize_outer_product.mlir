// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s

// OuterProduct: nothing is summed.

func.func @outer(%arg0: tensor<2x4x3x1xf32>, %arg1: tensor<2x4x1x5xf32>) -> tensor<2x4x3x5xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x4x3x1xf32>) -> tensor<2x4x3x1xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x4x1x5xf32>) -> tensor<2x4x1x5xf32>
  %3 = "top.MatMul"(%1, %2, %0) {do_relu = true} : (tensor<2x4x3x1xf32>, tensor<2x4x1x5xf32>, none) -> tensor<2x4x3x5xf32>
  return %3 : tensor<2x4x3x5xf32>
}

// CHECK-LABEL: func.func @outer
// CHECK: "top.Mul"(%0, %1){{.*}}do_relu = true{{.*}}-> tensor<2x4x3x5xf32>

// -----

// Two numbers are summed for each.
func.func @summed(%arg0: tensor<2x4x3x2xf32>, %arg1: tensor<2x4x2x5xf32>) -> tensor<2x4x3x5xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x4x3x2xf32>) -> tensor<2x4x3x2xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x4x2x5xf32>) -> tensor<2x4x2x5xf32>
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<2x4x3x2xf32>, tensor<2x4x2x5xf32>, none) -> tensor<2x4x3x5xf32>
  return %3 : tensor<2x4x3x5xf32>
}

// CHECK-LABEL: func.func @summed
// CHECK: "top.MatMul"
