// RUN: tpu-opt %s --split-input-file --processor-top-optimize --no-locations | filecheck %s

// ReshapeReorderPattern, MulConstBeforePermute, PermuteWithinBatches.

// Merged batches are multiplied as they are; the Reshape behind cancels.
func.func @merged(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<2x3x4x6xf32>) -> tensor<2x3x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %3 = "top.Reshape"(%1) {shape = [6, 5, 4]} : (tensor<2x3x5x4xf32>) -> tensor<6x5x4xf32>
  %4 = "top.Reshape"(%2) {shape = [6, 4, 6]} : (tensor<2x3x4x6xf32>) -> tensor<6x4x6xf32>
  %5 = "top.MatMul"(%3, %4, %0) : (tensor<6x5x4xf32>, tensor<6x4x6xf32>, none) -> tensor<6x5x6xf32>
  %6 = "top.MulConst"(%5) {const_val = 5.000000e-01 : f64} : (tensor<6x5x6xf32>) -> tensor<6x5x6xf32>
  %7 = "top.Softmax"(%6) {axis = 2 : si32} : (tensor<6x5x6xf32>) -> tensor<6x5x6xf32>
  %8 = "top.Reshape"(%7) {shape = [2, 3, 5, 6]} : (tensor<6x5x6xf32>) -> tensor<2x3x5x6xf32>
  %9 = "top.Abs"(%8) : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  return %9 : tensor<2x3x5x6xf32>
}

// CHECK-LABEL: func.func @merged
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %4 = "top.MulConst"(%3){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %5 = "top.Softmax"(%4){{.*}}axis = 3 : si32{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %6 = "top.Abs"(%5){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: return %6

// -----

// Refused: other batches.
func.func @other_batches(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<3x2x4x6xf32>) -> tensor<2x3x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<3x2x4x6xf32>) -> tensor<3x2x4x6xf32>
  %3 = "top.Reshape"(%1) {shape = [6, 5, 4]} : (tensor<2x3x5x4xf32>) -> tensor<6x5x4xf32>
  %4 = "top.Reshape"(%2) {shape = [6, 4, 6]} : (tensor<3x2x4x6xf32>) -> tensor<6x4x6xf32>
  %5 = "top.MatMul"(%3, %4, %0) : (tensor<6x5x4xf32>, tensor<6x4x6xf32>, none) -> tensor<6x5x6xf32>
  %6 = "top.MulConst"(%5) {const_val = 5.000000e-01 : f64} : (tensor<6x5x6xf32>) -> tensor<6x5x6xf32>
  %7 = "top.Softmax"(%6) {axis = 2 : si32} : (tensor<6x5x6xf32>) -> tensor<6x5x6xf32>
  %8 = "top.Reshape"(%7) {shape = [2, 3, 5, 6]} : (tensor<6x5x6xf32>) -> tensor<2x3x5x6xf32>
  %9 = "top.Abs"(%8) : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  return %9 : tensor<2x3x5x6xf32>
}

// CHECK-LABEL: func.func @other_batches
// CHECK: %3 = "top.Reshape"(%1){{.*}}-> tensor<6x5x4xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%2){{.*}}-> tensor<6x4x6xf32>
// CHECK-NEXT: %5 = "top.MatMul"(%3, %4, %0){{.*}}-> tensor<6x5x6xf32>
// CHECK-NEXT: %6 = "top.MulConst"(%5){{.*}}-> tensor<6x5x6xf32>
// CHECK-NEXT: %7 = "top.Softmax"(%6){{.*}}axis = 2 : si32{{.*}}-> tensor<6x5x6xf32>
// CHECK-NEXT: %8 = "top.Reshape"(%7){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: return %9

// -----

// Refused: batches merged differently.
func.func @merged_differently(%arg0: tensor<6x1x5x4xf32>, %arg1: tensor<2x3x4x6xf32>) -> tensor<2x3x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<6x1x5x4xf32>) -> tensor<6x1x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %3 = "top.Reshape"(%1) {shape = [6, 5, 4]} : (tensor<6x1x5x4xf32>) -> tensor<6x5x4xf32>
  %4 = "top.Reshape"(%2) {shape = [6, 4, 6]} : (tensor<2x3x4x6xf32>) -> tensor<6x4x6xf32>
  %5 = "top.MatMul"(%3, %4, %0) : (tensor<6x5x4xf32>, tensor<6x4x6xf32>, none) -> tensor<6x5x6xf32>
  %6 = "top.MulConst"(%5) {const_val = 5.000000e-01 : f64} : (tensor<6x5x6xf32>) -> tensor<6x5x6xf32>
  %7 = "top.Softmax"(%6) {axis = 2 : si32} : (tensor<6x5x6xf32>) -> tensor<6x5x6xf32>
  %8 = "top.Reshape"(%7) {shape = [2, 3, 5, 6]} : (tensor<6x5x6xf32>) -> tensor<2x3x5x6xf32>
  %9 = "top.Abs"(%8) : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  return %9 : tensor<2x3x5x6xf32>
}

// CHECK-LABEL: func.func @merged_differently
// CHECK: %3 = "top.Reshape"(%1){{.*}}-> tensor<6x5x4xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%2){{.*}}-> tensor<6x4x6xf32>
// CHECK-NEXT: %5 = "top.MatMul"(%3, %4, %0){{.*}}-> tensor<6x5x6xf32>
// CHECK-NEXT: %6 = "top.MulConst"(%5){{.*}}-> tensor<6x5x6xf32>
// CHECK-NEXT: %7 = "top.Softmax"(%6){{.*}}axis = 2 : si32{{.*}}-> tensor<6x5x6xf32>
// CHECK-NEXT: %8 = "top.Reshape"(%7){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: return %9

// -----

// Refused: the merged operand is used.
func.func @merged_used(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<2x3x4x6xf32>) -> (tensor<2x3x5x6xf32>, tensor<6x5x4xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %3 = "top.Reshape"(%1) {shape = [6, 5, 4]} : (tensor<2x3x5x4xf32>) -> tensor<6x5x4xf32>
  %4 = "top.Reshape"(%2) {shape = [6, 4, 6]} : (tensor<2x3x4x6xf32>) -> tensor<6x4x6xf32>
  %5 = "top.MatMul"(%3, %4, %0) : (tensor<6x5x4xf32>, tensor<6x4x6xf32>, none) -> tensor<6x5x6xf32>
  %6 = "top.MulConst"(%5) {const_val = 5.000000e-01 : f64} : (tensor<6x5x6xf32>) -> tensor<6x5x6xf32>
  %7 = "top.Softmax"(%6) {axis = 2 : si32} : (tensor<6x5x6xf32>) -> tensor<6x5x6xf32>
  %8 = "top.Reshape"(%7) {shape = [2, 3, 5, 6]} : (tensor<6x5x6xf32>) -> tensor<2x3x5x6xf32>
  %9 = "top.Abs"(%8) : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %10 = "top.Sin"(%3) : (tensor<6x5x4xf32>) -> tensor<6x5x4xf32>
  return %9, %10 : tensor<2x3x5x6xf32>, tensor<6x5x4xf32>
}

// CHECK-LABEL: func.func @merged_used
// CHECK: %3 = "top.Reshape"(%1){{.*}}-> tensor<6x5x4xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%2){{.*}}-> tensor<6x4x6xf32>
// CHECK-NEXT: %5 = "top.MatMul"(%3, %4, %0){{.*}}-> tensor<6x5x6xf32>
// CHECK-NEXT: %6 = "top.MulConst"(%5){{.*}}-> tensor<6x5x6xf32>
// CHECK-NEXT: %7 = "top.Softmax"(%6){{.*}}axis = 2 : si32{{.*}}-> tensor<6x5x6xf32>
// CHECK-NEXT: %8 = "top.Reshape"(%7){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %10 = "top.Sin"(%3){{.*}}-> tensor<6x5x4xf32>
// CHECK-NEXT: return %9, %10

// -----

// A Softmax follows its dimension.
func.func @softmax(%arg0: tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32> {
  %0 = "top.Input"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "top.Reshape"(%0) {shape = [6, 4, 5]} : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %2 = "top.Softmax"(%1) {axis = 1 : si32} : (tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  return %2 : tensor<6x4x5xf32>
}

// CHECK-LABEL: func.func @softmax
// CHECK: %1 = "top.Softmax"(%0){{.*}}axis = 2 : si32{{.*}}-> tensor<2x3x4x5xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}-> tensor<6x4x5xf32>
// CHECK-NEXT: return %2

// -----

// Refused: along the merged dimension.
func.func @softmax_merged(%arg0: tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32> {
  %0 = "top.Input"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "top.Reshape"(%0) {shape = [6, 4, 5]} : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %2 = "top.Softmax"(%1) {axis = 0 : si32} : (tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  return %2 : tensor<6x4x5xf32>
}

// CHECK-LABEL: func.func @softmax_merged
// CHECK: %1 = "top.Reshape"(%0){{.*}}-> tensor<6x4x5xf32>
// CHECK-NEXT: %2 = "top.Softmax"(%1){{.*}}axis = 0 : si32{{.*}}-> tensor<6x4x5xf32>
// CHECK-NEXT: return %2

// -----

// Refused: other dimensions are merged.
func.func @softmax_other(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x12x5xf32> {
  %0 = "top.Input"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "top.Reshape"(%0) {shape = [2, 12, 5]} : (tensor<2x3x4x5xf32>) -> tensor<2x12x5xf32>
  %2 = "top.Softmax"(%1) {axis = 2 : si32} : (tensor<2x12x5xf32>) -> tensor<2x12x5xf32>
  return %2 : tensor<2x12x5xf32>
}

// CHECK-LABEL: func.func @softmax_other
// CHECK: %1 = "top.Reshape"(%0){{.*}}-> tensor<2x12x5xf32>
// CHECK-NEXT: %2 = "top.Softmax"(%1){{.*}}axis = 2 : si32{{.*}}-> tensor<2x12x5xf32>
// CHECK-NEXT: return %2

// -----

// Refused: no fourth dimension.
func.func @softmax_three(%arg0: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %0 = "top.Input"(%arg0) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = "top.Reshape"(%0) {shape = [6, 4]} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %2 = "top.Softmax"(%1) {axis = 1 : si32} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @softmax_three
// CHECK: %1 = "top.Reshape"(%0){{.*}}-> tensor<6x4xf32>
// CHECK-NEXT: %2 = "top.Softmax"(%1){{.*}}axis = 1 : si32{{.*}}-> tensor<6x4xf32>
// CHECK-NEXT: return %2

// -----

// A factor moves in front of permutes to the product with a weight.
func.func @factor(%arg0: tensor<4x5x16xf32>) -> tensor<4x2x8x5xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Weight"() : () -> tensor<16x16xf32> loc("w")
  %2 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %3 = "top.MatMul"(%2, %1, %0) : (tensor<4x5x16xf32>, tensor<16x16xf32>, none) -> tensor<4x5x16xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 2, 8]} : (tensor<4x5x16xf32>) -> tensor<4x5x2x8xf32>
  %5 = "top.Permute"(%4) {order = [0, 2, 1, 3]} : (tensor<4x5x2x8xf32>) -> tensor<4x2x5x8xf32>
  %6 = "top.Permute"(%5) {order = [0, 1, 3, 2]} : (tensor<4x2x5x8xf32>) -> tensor<4x2x8x5xf32>
  %7 = "top.MulConst"(%6) {const_val = 2.500000e-01 : f64} : (tensor<4x2x8x5xf32>) -> tensor<4x2x8x5xf32>
  return %7 : tensor<4x2x8x5xf32>
}

// CHECK-LABEL: func.func @factor
// CHECK: %3 = "top.MatMul"(%2, %1, %0){{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %5 = "top.MulConst"(%4){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<4x2x8x5xf32>
// CHECK-NEXT: return %7

// -----

// Refused: no weight.
func.func @factor_without_weight(%arg0: tensor<16x16xf32>, %arg1: tensor<4x5x16xf32>) -> tensor<4x2x8x5xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = "top.Input"(%arg1) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %3 = "top.MatMul"(%2, %1, %0) : (tensor<4x5x16xf32>, tensor<16x16xf32>, none) -> tensor<4x5x16xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 2, 8]} : (tensor<4x5x16xf32>) -> tensor<4x5x2x8xf32>
  %5 = "top.Permute"(%4) {order = [0, 2, 1, 3]} : (tensor<4x5x2x8xf32>) -> tensor<4x2x5x8xf32>
  %6 = "top.Permute"(%5) {order = [0, 1, 3, 2]} : (tensor<4x2x5x8xf32>) -> tensor<4x2x8x5xf32>
  %7 = "top.MulConst"(%6) {const_val = 2.500000e-01 : f64} : (tensor<4x2x8x5xf32>) -> tensor<4x2x8x5xf32>
  return %7 : tensor<4x2x8x5xf32>
}

// CHECK-LABEL: func.func @factor_without_weight
// CHECK: %3 = "top.MatMul"(%2, %1, %0){{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<4x2x8x5xf32>
// CHECK-NEXT: %7 = "top.MulConst"(%6){{.*}}-> tensor<4x2x8x5xf32>
// CHECK-NEXT: return %7

// -----

// Refused: the unscaled value is used.
func.func @factor_used(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x8x5xf32>, tensor<4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Weight"() : () -> tensor<16x16xf32> loc("w")
  %2 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %3 = "top.MatMul"(%2, %1, %0) : (tensor<4x5x16xf32>, tensor<16x16xf32>, none) -> tensor<4x5x16xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 2, 8]} : (tensor<4x5x16xf32>) -> tensor<4x5x2x8xf32>
  %5 = "top.Permute"(%4) {order = [0, 2, 1, 3]} : (tensor<4x5x2x8xf32>) -> tensor<4x2x5x8xf32>
  %6 = "top.Permute"(%5) {order = [0, 1, 3, 2]} : (tensor<4x2x5x8xf32>) -> tensor<4x2x8x5xf32>
  %7 = "top.MulConst"(%6) {const_val = 2.500000e-01 : f64} : (tensor<4x2x8x5xf32>) -> tensor<4x2x8x5xf32>
  %8 = "top.Abs"(%5) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  return %7, %8 : tensor<4x2x8x5xf32>, tensor<4x2x5x8xf32>
}

// CHECK-LABEL: func.func @factor_used
// CHECK: %3 = "top.MatMul"(%2, %1, %0){{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<4x2x8x5xf32>
// CHECK-NEXT: %7 = "top.MulConst"(%6){{.*}}-> tensor<4x2x8x5xf32>
// CHECK-NEXT: %8 = "top.Abs"(%5){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: return %7, %8

// -----

// PermuteWithinBatches: keys as exporters transpose them, batches merged for it and parted again.
func.func @keys(%arg0: tensor<2x49x3x32xf32>) -> tensor<2x3x32x49xf32> {
  %1 = "top.Input"(%arg0) : (tensor<2x49x3x32xf32>) -> tensor<2x49x3x32xf32>
  %2 = "top.Permute"(%1) {order = [0, 2, 1, 3]} : (tensor<2x49x3x32xf32>) -> tensor<2x3x49x32xf32>
  %3 = "top.Reshape"(%2) {shape = [6, 49, 32]} : (tensor<2x3x49x32xf32>) -> tensor<6x49x32xf32>
  %4 = "top.Permute"(%3) {order = [0, 2, 1]} : (tensor<6x49x32xf32>) -> tensor<6x32x49xf32>
  %5 = "top.Reshape"(%4) {shape = [2, 3, 32, 49]} : (tensor<6x32x49xf32>) -> tensor<2x3x32x49xf32>
  %6 = "top.Abs"(%5) : (tensor<2x3x32x49xf32>) -> tensor<2x3x32x49xf32>
  return %6 : tensor<2x3x32x49xf32>
}

// CHECK-LABEL: func.func @keys
// CHECK: %[[X:[0-9]+]] = "top.Input"
// CHECK-NEXT: %[[H:[0-9]+]] = "top.Permute"(%[[X]]) {order = [0, 2, 1, 3]}{{.*}}-> tensor<2x3x49x32xf32>
// CHECK-NEXT: %[[K:[0-9]+]] = "top.Permute"(%[[H]]) {order = [0, 1, 3, 2]}{{.*}}-> tensor<2x3x32x49xf32>
// CHECK-NEXT: "top.Abs"(%[[K]])

// -----

// Refused: the batches are parted in another way.
func.func @other_parts(%arg0: tensor<2x3x49x32xf32>) -> tensor<3x2x32x49xf32> {
  %1 = "top.Input"(%arg0) : (tensor<2x3x49x32xf32>) -> tensor<2x3x49x32xf32>
  %2 = "top.Reshape"(%1) {shape = [6, 49, 32]} : (tensor<2x3x49x32xf32>) -> tensor<6x49x32xf32>
  %3 = "top.Permute"(%2) {order = [0, 2, 1]} : (tensor<6x49x32xf32>) -> tensor<6x32x49xf32>
  %4 = "top.Reshape"(%3) {shape = [3, 2, 32, 49]} : (tensor<6x32x49xf32>) -> tensor<3x2x32x49xf32>
  return %4 : tensor<3x2x32x49xf32>
}

// CHECK-LABEL: func.func @other_parts
// CHECK: "top.Reshape"
// CHECK-NEXT: "top.Permute"
// CHECK-NEXT: "top.Reshape"

// -----

// Refused: the Permute moves the batches.
func.func @batches_move(%arg0: tensor<2x3x49x32xf32>) -> tensor<7x7x6x32xf32> {
  %1 = "top.Input"(%arg0) : (tensor<2x3x49x32xf32>) -> tensor<2x3x49x32xf32>
  %2 = "top.Reshape"(%1) {shape = [6, 49, 32]} : (tensor<2x3x49x32xf32>) -> tensor<6x49x32xf32>
  %3 = "top.Permute"(%2) {order = [1, 0, 2]} : (tensor<6x49x32xf32>) -> tensor<49x6x32xf32>
  %4 = "top.Reshape"(%3) {shape = [7, 7, 6, 32]} : (tensor<49x6x32xf32>) -> tensor<7x7x6x32xf32>
  return %4 : tensor<7x7x6x32xf32>
}

// CHECK-LABEL: func.func @batches_move
// CHECK: "top.Reshape"
// CHECK-NEXT: "top.Permute"
// CHECK-NEXT: "top.Reshape"

// -----

// Refused: another op reads the merged batches, too.
func.func @read_twice(%arg0: tensor<2x3x49x32xf32>) -> (tensor<2x3x32x49xf32>, tensor<6x49x32xf32>) {
  %1 = "top.Input"(%arg0) : (tensor<2x3x49x32xf32>) -> tensor<2x3x49x32xf32>
  %2 = "top.Reshape"(%1) {shape = [6, 49, 32]} : (tensor<2x3x49x32xf32>) -> tensor<6x49x32xf32>
  %3 = "top.Permute"(%2) {order = [0, 2, 1]} : (tensor<6x49x32xf32>) -> tensor<6x32x49xf32>
  %4 = "top.Reshape"(%3) {shape = [2, 3, 32, 49]} : (tensor<6x32x49xf32>) -> tensor<2x3x32x49xf32>
  %5 = "top.Abs"(%2) : (tensor<6x49x32xf32>) -> tensor<6x49x32xf32>
  return %4, %5 : tensor<2x3x32x49xf32>, tensor<6x49x32xf32>
}

// CHECK-LABEL: func.func @read_twice
// CHECK: "top.Reshape"
// CHECK-NEXT: "top.Permute"
// CHECK-NEXT: "top.Reshape"
