// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s

// MatmulWithPermuteAndSplit does not apply: the parts are cut from what was permuted.

// Refused: the product's columns are not split in three.
func.func @the_product_s_columns_are_not_split_in_three(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x4x2xf32>, tensor<4x2x5x4x2xf32>, tensor<4x2x5x4x2xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 4, 2]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x4x2xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4, 5]} : (tensor<4x5x3x2x4x2xf32>) -> tensor<3x4x2x5x4x2xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 4, 2], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1, 1]} : (tensor<3x4x2x5x4x2xf32>, none, none, none) -> tensor<1x4x2x5x4x2xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x2x5x4x2xf32>) -> tensor<4x2x5x4x2xf32>
  %8 = "top.Abs"(%7) : (tensor<4x2x5x4x2xf32>) -> tensor<4x2x5x4x2xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 4, 2], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1, 1]} : (tensor<3x4x2x5x4x2xf32>, none, none, none) -> tensor<1x4x2x5x4x2xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x4x2x5x4x2xf32>) -> tensor<4x2x5x4x2xf32>
  %11 = "top.Abs"(%10) : (tensor<4x2x5x4x2xf32>) -> tensor<4x2x5x4x2xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 2, 5, 4, 2], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1, 1]} : (tensor<3x4x2x5x4x2xf32>, none, none, none) -> tensor<1x4x2x5x4x2xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x4x2x5x4x2xf32>) -> tensor<4x2x5x4x2xf32>
  %14 = "top.Abs"(%13) : (tensor<4x2x5x4x2xf32>) -> tensor<4x2x5x4x2xf32>
  return %8, %11, %14 : tensor<4x2x5x4x2xf32>, tensor<4x2x5x4x2xf32>, tensor<4x2x5x4x2xf32>
}

// CHECK-LABEL: func.func @the_product_s_columns_are_not_split_in_three
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x4x2xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4, 5]{{.*}}-> tensor<4x3x2x5x4x2xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4, 5]{{.*}}-> tensor<3x4x2x5x4x2xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x4x2xf32>
// CHECK-NEXT: %8 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x4x2xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x2x5x4x2xf32>
// CHECK-NEXT: %10 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x4x2xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x4x2xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x4x2xf32>
// CHECK-NEXT: %13 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x4x2xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x4x2xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x2x5x4x2xf32>
// CHECK-NEXT: return %9, %12, %15

// -----

// Refused: one of the last three dimensions holds columns and rows.
func.func @rows_among_columns(%arg0: tensor<20x16xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<20x16xf32>) -> tensor<20x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<20x16xf32>, tensor<16x48xf32>, none) -> tensor<20x48xf32>
  %4 = "top.Reshape"(%3) {shape = [2, 5, 3, 4, 8]} : (tensor<20x48xf32>) -> tensor<2x5x3x4x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<2x5x3x4x8xf32>) -> tensor<3x2x4x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 2, 4, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x4x5x8xf32>, none, none, none) -> tensor<1x2x4x5x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %8 = "top.Abs"(%7) : (tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 2, 4, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x4x5x8xf32>, none, none, none) -> tensor<1x2x4x5x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 2, 4, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x4x5x8xf32>, none, none, none) -> tensor<1x2x4x5x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %14 = "top.Abs"(%13) : (tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  return %8, %11, %14 : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>
}

// CHECK-LABEL: func.func @rows_among_columns
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<20x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<2x5x3x4x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<2x3x4x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x2x4x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x2x4x5x8xf32>
// CHECK-NEXT: %8 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: %10 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x2x4x5x8xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [0]{{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0, 0]{{.*}}-> tensor<1x2x4x5x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [0]{{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: return %9, %12, %15

// -----

// Refused: the split dimension does not move.
func.func @the_split_dimension_does_not_move(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [0, 3, 2, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<4x2x3x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 2, 1, 5, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x2x3x5x8xf32>, none, none, none) -> tensor<4x2x1x5x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [2]} : (tensor<4x2x1x5x8xf32>) -> tensor<4x2x5x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 2, 2, 5, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x2x3x5x8xf32>, none, none, none) -> tensor<4x2x1x5x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [2]} : (tensor<4x2x1x5x8xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 2, 3, 5, 8], hasparamConvert_axes = [2], offset = [0, 0, 2, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x2x3x5x8xf32>, none, none, none) -> tensor<4x2x1x5x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [2]} : (tensor<4x2x1x5x8xf32>) -> tensor<4x2x5x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  return %8, %11, %14 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>
}

// CHECK-LABEL: func.func @the_split_dimension_does_not_move
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [0, 2, 1, 3, 4]{{.*}}-> tensor<4x2x3x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x2x1x5x8xf32>
// CHECK-NEXT: %8 = "top.Squeeze"(%7){{.*}}axes = [2]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %10 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x2x1x5x8xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [2]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x2x1x5x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [2]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: return %9, %12, %15

// -----

// Refused: three permutes.
func.func @three_permutes(%arg0: tensor<4x5x16xf32>) -> (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [0, 2, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<4x3x2x5x8xf32>
  %6 = "top.Permute"(%5) {order = [1, 0, 2, 3, 4]} : (tensor<4x3x2x5x8xf32>) -> tensor<3x4x2x5x8xf32>
  %7 = "top.Permute"(%6) {order = [0, 2, 1, 3, 4]} : (tensor<3x4x2x5x8xf32>) -> tensor<3x2x4x5x8xf32>
  %8 = "top.Slice"(%7, %0, %0, %0) {ends = [1, 2, 4, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x4x5x8xf32>, none, none, none) -> tensor<1x2x4x5x8xf32>
  %9 = "top.Squeeze"(%8) {axes = [0]} : (tensor<1x2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %10 = "top.Abs"(%9) : (tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %11 = "top.Slice"(%7, %0, %0, %0) {ends = [2, 2, 4, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x4x5x8xf32>, none, none, none) -> tensor<1x2x4x5x8xf32>
  %12 = "top.Squeeze"(%11) {axes = [0]} : (tensor<1x2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %13 = "top.Abs"(%12) : (tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %14 = "top.Slice"(%7, %0, %0, %0) {ends = [3, 2, 4, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x4x5x8xf32>, none, none, none) -> tensor<1x2x4x5x8xf32>
  %15 = "top.Squeeze"(%14) {axes = [0]} : (tensor<1x2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %16 = "top.Abs"(%15) : (tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  return %10, %13, %16 : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>
}

// CHECK-LABEL: func.func @three_permutes
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3, 4]{{.*}}-> tensor<3x2x4x5x8xf32>
// CHECK-NEXT: %8 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x2x4x5x8xf32>
// CHECK-NEXT: %9 = "top.Squeeze"(%8){{.*}}axes = [0]{{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: %10 = "top.Abs"(%9){{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: %11 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x2x4x5x8xf32>
// CHECK-NEXT: %12 = "top.Squeeze"(%11){{.*}}axes = [0]{{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: %14 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0, 0]{{.*}}-> tensor<1x2x4x5x8xf32>
// CHECK-NEXT: %15 = "top.Squeeze"(%14){{.*}}axes = [0]{{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<2x4x5x8xf32>
// CHECK-NEXT: return %10, %13, %16

// -----

// Refused: a part is missing.
func.func @a_part_is_missing(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  return %8, %11 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>
}

// CHECK-LABEL: func.func @a_part_is_missing
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %10 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: return %9, %12

// -----

// Refused: two indices a part.
func.func @two_indices_a_part(%arg0: tensor<4x5x16xf32>) -> (tensor<2x4x2x5x4xf32>, tensor<2x4x2x5x4xf32>, tensor<2x4x2x5x4xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 6, 2, 4]} : (tensor<4x5x48xf32>) -> tensor<4x5x6x2x4xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x6x2x4xf32>) -> tensor<6x4x2x5x4xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 4], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x4x2x5x4xf32>, none, none, none) -> tensor<2x4x2x5x4xf32>
  %7 = "top.Abs"(%6) : (tensor<2x4x2x5x4xf32>) -> tensor<2x4x2x5x4xf32>
  %8 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 4, 2, 5, 4], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x4x2x5x4xf32>, none, none, none) -> tensor<2x4x2x5x4xf32>
  %9 = "top.Abs"(%8) : (tensor<2x4x2x5x4xf32>) -> tensor<2x4x2x5x4xf32>
  %10 = "top.Slice"(%5, %0, %0, %0) {ends = [6, 4, 2, 5, 4], hasparamConvert_axes = [0], offset = [4, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x4x2x5x4xf32>, none, none, none) -> tensor<2x4x2x5x4xf32>
  %11 = "top.Abs"(%10) : (tensor<2x4x2x5x4xf32>) -> tensor<2x4x2x5x4xf32>
  return %7, %9, %11 : tensor<2x4x2x5x4xf32>, tensor<2x4x2x5x4xf32>, tensor<2x4x2x5x4xf32>
}

// CHECK-LABEL: func.func @two_indices_a_part
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x6x2x4xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x6x2x5x4xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<6x4x2x5x4xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<2x4x2x5x4xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<2x4x2x5x4xf32>
// CHECK-NEXT: %9 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0, 0]{{.*}}-> tensor<2x4x2x5x4xf32>
// CHECK-NEXT: %10 = "top.Abs"(%9){{.*}}-> tensor<2x4x2x5x4xf32>
// CHECK-NEXT: %11 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [4, 0, 0, 0, 0]{{.*}}-> tensor<2x4x2x5x4xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<2x4x2x5x4xf32>
// CHECK-NEXT: return %8, %10, %12

// -----

// Refused: not squeezed.
func.func @not_squeezed(%arg0: tensor<4x5x16xf32>) -> (tensor<1x4x2x5x8xf32>, tensor<1x4x2x5x8xf32>, tensor<1x4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %7 = "top.Abs"(%6) : (tensor<1x4x2x5x8xf32>) -> tensor<1x4x2x5x8xf32>
  %8 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %9 = "top.Abs"(%8) : (tensor<1x4x2x5x8xf32>) -> tensor<1x4x2x5x8xf32>
  %10 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<1x4x2x5x8xf32>) -> tensor<1x4x2x5x8xf32>
  return %7, %9, %11 : tensor<1x4x2x5x8xf32>, tensor<1x4x2x5x8xf32>, tensor<1x4x2x5x8xf32>
}

// CHECK-LABEL: func.func @not_squeezed
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %10 = "top.Abs"(%9){{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %11 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: return %8, %10, %12

// -----

// Refused: the product's Reshape is used.
func.func @the_product_s_reshape_is_used(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x5x3x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %15 = "top.Abs"(%4) : (tensor<4x5x3x2x8xf32>) -> tensor<4x5x3x2x8xf32>
  return %8, %11, %14, %15 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x5x3x2x8xf32>
}

// CHECK-LABEL: func.func @the_product_s_reshape_is_used
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %10 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%4){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: return %9, %12, %15, %16

// -----

// Refused: the Permute is used.
func.func @the_permute_is_used(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<3x4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %15 = "top.Abs"(%5) : (tensor<3x4x2x5x8xf32>) -> tensor<3x4x2x5x8xf32>
  return %8, %11, %14, %15 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<3x4x2x5x8xf32>
}

// CHECK-LABEL: func.func @the_permute_is_used
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %10 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%6){{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: return %9, %12, %15, %16

// -----

// Refused: the first of two Permutes is used.
func.func @the_first_of_two_permutes_is_used(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x3x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [0, 2, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<4x3x2x5x8xf32>
  %6 = "top.Permute"(%5) {order = [1, 0, 2, 3, 4]} : (tensor<4x3x2x5x8xf32>) -> tensor<3x4x2x5x8xf32>
  %7 = "top.Slice"(%6, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %8 = "top.Squeeze"(%7) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %9 = "top.Abs"(%8) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %10 = "top.Slice"(%6, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %11 = "top.Squeeze"(%10) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Abs"(%11) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %13 = "top.Slice"(%6, %0, %0, %0) {ends = [3, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %14 = "top.Squeeze"(%13) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %15 = "top.Abs"(%14) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %16 = "top.Abs"(%5) : (tensor<4x3x2x5x8xf32>) -> tensor<4x3x2x5x8xf32>
  return %9, %12, %15, %16 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x3x2x5x8xf32>
}

// CHECK-LABEL: func.func @the_first_of_two_permutes_is_used
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %10 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%5){{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: return %9, %12, %15, %16

// -----

// Refused: the merging Reshape is used.
func.func @the_merging_reshape_is_used(%arg0: tensor<4x5x16xf32>) -> (tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<3x8x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Reshape"(%5) {shape = [3, 8, 5, 8]} : (tensor<3x4x2x5x8xf32>) -> tensor<3x8x5x8xf32>
  %7 = "top.Slice"(%6, %0, %0, %0) {ends = [1, 8, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x8x5x8xf32>, none, none, none) -> tensor<1x8x5x8xf32>
  %8 = "top.Squeeze"(%7) {axes = [0]} : (tensor<1x8x5x8xf32>) -> tensor<8x5x8xf32>
  %9 = "top.Abs"(%8) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  %10 = "top.Slice"(%6, %0, %0, %0) {ends = [2, 8, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x8x5x8xf32>, none, none, none) -> tensor<1x8x5x8xf32>
  %11 = "top.Squeeze"(%10) {axes = [0]} : (tensor<1x8x5x8xf32>) -> tensor<8x5x8xf32>
  %12 = "top.Abs"(%11) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  %13 = "top.Slice"(%6, %0, %0, %0) {ends = [3, 8, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x8x5x8xf32>, none, none, none) -> tensor<1x8x5x8xf32>
  %14 = "top.Squeeze"(%13) {axes = [0]} : (tensor<1x8x5x8xf32>) -> tensor<8x5x8xf32>
  %15 = "top.Abs"(%14) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  %16 = "top.Abs"(%6) : (tensor<3x8x5x8xf32>) -> tensor<3x8x5x8xf32>
  return %9, %12, %15, %16 : tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<3x8x5x8xf32>
}

// CHECK-LABEL: func.func @the_merging_reshape_is_used
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Reshape"(%6){{.*}}-> tensor<3x8x5x8xf32>
// CHECK-NEXT: %8 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<1x8x5x8xf32>
// CHECK-NEXT: %9 = "top.Squeeze"(%8){{.*}}axes = [0]{{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %10 = "top.Abs"(%9){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %11 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0]{{.*}}-> tensor<1x8x5x8xf32>
// CHECK-NEXT: %12 = "top.Squeeze"(%11){{.*}}axes = [0]{{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %14 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0]{{.*}}-> tensor<1x8x5x8xf32>
// CHECK-NEXT: %15 = "top.Squeeze"(%14){{.*}}axes = [0]{{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %17 = "top.Abs"(%7){{.*}}-> tensor<3x8x5x8xf32>
// CHECK-NEXT: return %10, %13, %16, %17

// -----

// Refused: the Permute in front of the merge is used.
func.func @the_permute_in_front_of_the_merge_is_used(%arg0: tensor<4x5x16xf32>) -> (tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<3x4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Reshape"(%5) {shape = [3, 8, 5, 8]} : (tensor<3x4x2x5x8xf32>) -> tensor<3x8x5x8xf32>
  %7 = "top.Slice"(%6, %0, %0, %0) {ends = [1, 8, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x8x5x8xf32>, none, none, none) -> tensor<1x8x5x8xf32>
  %8 = "top.Squeeze"(%7) {axes = [0]} : (tensor<1x8x5x8xf32>) -> tensor<8x5x8xf32>
  %9 = "top.Abs"(%8) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  %10 = "top.Slice"(%6, %0, %0, %0) {ends = [2, 8, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x8x5x8xf32>, none, none, none) -> tensor<1x8x5x8xf32>
  %11 = "top.Squeeze"(%10) {axes = [0]} : (tensor<1x8x5x8xf32>) -> tensor<8x5x8xf32>
  %12 = "top.Abs"(%11) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  %13 = "top.Slice"(%6, %0, %0, %0) {ends = [3, 8, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x8x5x8xf32>, none, none, none) -> tensor<1x8x5x8xf32>
  %14 = "top.Squeeze"(%13) {axes = [0]} : (tensor<1x8x5x8xf32>) -> tensor<8x5x8xf32>
  %15 = "top.Abs"(%14) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  %16 = "top.Abs"(%5) : (tensor<3x4x2x5x8xf32>) -> tensor<3x4x2x5x8xf32>
  return %9, %12, %15, %16 : tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<3x4x2x5x8xf32>
}

// CHECK-LABEL: func.func @the_permute_in_front_of_the_merge_is_used
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Reshape"(%6){{.*}}-> tensor<3x8x5x8xf32>
// CHECK-NEXT: %8 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<1x8x5x8xf32>
// CHECK-NEXT: %9 = "top.Squeeze"(%8){{.*}}axes = [0]{{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %10 = "top.Abs"(%9){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %11 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0]{{.*}}-> tensor<1x8x5x8xf32>
// CHECK-NEXT: %12 = "top.Squeeze"(%11){{.*}}axes = [0]{{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %14 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0]{{.*}}-> tensor<1x8x5x8xf32>
// CHECK-NEXT: %15 = "top.Squeeze"(%14){{.*}}axes = [0]{{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %17 = "top.Abs"(%6){{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: return %10, %13, %16, %17

// -----

// Refused: the split dimension is merged.
func.func @the_split_dimension_is_merged(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x16xf32>, tensor<4x5x16xf32>, tensor<4x5x16xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 1, 16]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x1x16xf32>
  %5 = "top.Permute"(%4) {order = [3, 2, 0, 1, 4]} : (tensor<4x5x3x1x16xf32>) -> tensor<1x3x4x5x16xf32>
  %6 = "top.Reshape"(%5) {shape = [3, 4, 5, 16]} : (tensor<1x3x4x5x16xf32>) -> tensor<3x4x5x16xf32>
  %7 = "top.Slice"(%6, %0, %0, %0) {ends = [1, 4, 5, 16], hasparamConvert_axes = [0], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x4x5x16xf32>, none, none, none) -> tensor<1x4x5x16xf32>
  %8 = "top.Squeeze"(%7) {axes = [0]} : (tensor<1x4x5x16xf32>) -> tensor<4x5x16xf32>
  %9 = "top.Abs"(%8) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %10 = "top.Slice"(%6, %0, %0, %0) {ends = [2, 4, 5, 16], hasparamConvert_axes = [0], offset = [1, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x4x5x16xf32>, none, none, none) -> tensor<1x4x5x16xf32>
  %11 = "top.Squeeze"(%10) {axes = [0]} : (tensor<1x4x5x16xf32>) -> tensor<4x5x16xf32>
  %12 = "top.Abs"(%11) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %13 = "top.Slice"(%6, %0, %0, %0) {ends = [3, 4, 5, 16], hasparamConvert_axes = [0], offset = [2, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x4x5x16xf32>, none, none, none) -> tensor<1x4x5x16xf32>
  %14 = "top.Squeeze"(%13) {axes = [0]} : (tensor<1x4x5x16xf32>) -> tensor<4x5x16xf32>
  %15 = "top.Abs"(%14) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  return %9, %12, %15 : tensor<4x5x16xf32>, tensor<4x5x16xf32>, tensor<4x5x16xf32>
}

// CHECK-LABEL: func.func @the_split_dimension_is_merged
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x1x16xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [3, 2, 0, 1, 4]{{.*}}-> tensor<1x3x4x5x16xf32>
// CHECK-NEXT: %6 = "top.Reshape"(%5){{.*}}-> tensor<3x4x5x16xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<1x4x5x16xf32>
// CHECK-NEXT: %8 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %10 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0]{{.*}}-> tensor<1x4x5x16xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [0]{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %13 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0]{{.*}}-> tensor<1x4x5x16xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [0]{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: return %9, %12, %15

// -----

// Refused: three dimensions are merged.
func.func @three_dimensions_are_merged(%arg0: tensor<4x5x16xf32>) -> (tensor<40x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Reshape"(%5) {shape = [3, 40, 8]} : (tensor<3x4x2x5x8xf32>) -> tensor<3x40x8xf32>
  %7 = "top.Slice"(%6, %0, %0, %0) {ends = [1, 40, 8], hasparamConvert_axes = [0], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<3x40x8xf32>, none, none, none) -> tensor<1x40x8xf32>
  %8 = "top.Squeeze"(%7) {axes = [0]} : (tensor<1x40x8xf32>) -> tensor<40x8xf32>
  %9 = "top.Abs"(%8) : (tensor<40x8xf32>) -> tensor<40x8xf32>
  %10 = "top.Slice"(%6, %0, %0, %0) {ends = [2, 40, 8], hasparamConvert_axes = [0], offset = [1, 0, 0], steps = [1, 1, 1]} : (tensor<3x40x8xf32>, none, none, none) -> tensor<1x40x8xf32>
  %11 = "top.Squeeze"(%10) {axes = [0]} : (tensor<1x40x8xf32>) -> tensor<40x8xf32>
  %12 = "top.Abs"(%11) : (tensor<40x8xf32>) -> tensor<40x8xf32>
  %13 = "top.Slice"(%6, %0, %0, %0) {ends = [3, 40, 8], hasparamConvert_axes = [0], offset = [2, 0, 0], steps = [1, 1, 1]} : (tensor<3x40x8xf32>, none, none, none) -> tensor<1x40x8xf32>
  %14 = "top.Squeeze"(%13) {axes = [0]} : (tensor<1x40x8xf32>) -> tensor<40x8xf32>
  %15 = "top.Abs"(%14) : (tensor<40x8xf32>) -> tensor<40x8xf32>
  return %9, %12, %15 : tensor<40x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>
}

// CHECK-LABEL: func.func @three_dimensions_are_merged
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Reshape"(%6){{.*}}-> tensor<3x40x8xf32>
// CHECK-NEXT: %8 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x40x8xf32>
// CHECK-NEXT: %9 = "top.Squeeze"(%8){{.*}}axes = [0]{{.*}}-> tensor<40x8xf32>
// CHECK-NEXT: %10 = "top.Abs"(%9){{.*}}-> tensor<40x8xf32>
// CHECK-NEXT: %11 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0]{{.*}}-> tensor<1x40x8xf32>
// CHECK-NEXT: %12 = "top.Squeeze"(%11){{.*}}axes = [0]{{.*}}-> tensor<40x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<40x8xf32>
// CHECK-NEXT: %14 = "top.Slice"(%7, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0]{{.*}}-> tensor<1x40x8xf32>
// CHECK-NEXT: %15 = "top.Squeeze"(%14){{.*}}axes = [0]{{.*}}-> tensor<40x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<40x8xf32>
// CHECK-NEXT: return %10, %13, %16

// -----

// Refused: parts of different dimensions.
func.func @other_axis(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<3x4x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 1, 5, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<3x4x1x5x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [2]} : (tensor<3x4x1x5x8xf32>) -> tensor<3x4x5x8xf32>
  %14 = "top.Abs"(%13) : (tensor<3x4x5x8xf32>) -> tensor<3x4x5x8xf32>
  return %8, %11, %14 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<3x4x5x8xf32>
}

// CHECK-LABEL: func.func @other_axis
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %10 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<3x4x1x5x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [2]{{.*}}-> tensor<3x4x5x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<3x4x5x8xf32>
// CHECK-NEXT: return %9, %12, %15

// -----

// Refused: one part is cut twice, one never.
func.func @same_part_twice(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  return %8, %11, %14 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>
}

// CHECK-LABEL: func.func @same_part_twice
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %10 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: return %9, %12, %15

// -----

// Refused: a part is cut along two dimensions.
func.func @two_dimensions(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x3x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %7 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %8 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %9 = "top.Slice"(%8, %0, %0, %0) {ends = [1, 4, 2, 4, 8], hasparamConvert_axes = [3], offset = [0, 0, 0, 1, 0], steps = [1, 1, 1, 1, 1]} : (tensor<1x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x3x8xf32>
  %10 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Squeeze"(%7) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %13 = "top.Abs"(%12) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %14 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x4x2x3x8xf32>) -> tensor<4x2x3x8xf32>
  %15 = "top.Abs"(%14) : (tensor<4x2x3x8xf32>) -> tensor<4x2x3x8xf32>
  return %11, %13, %15 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x3x8xf32>
}

// CHECK-LABEL: func.func @two_dimensions
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0, 3]{{.*}}offset = [2, 0, 0, 1, 0]{{.*}}-> tensor<1x4x2x3x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Squeeze"(%8){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%9){{.*}}axes = [0]{{.*}}-> tensor<4x2x3x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x2x3x8xf32>
// CHECK-NEXT: return %11, %13, %15

// -----

// Refused: a part is used under its squeeze.
func.func @part_used_twice(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<1x4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %7 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %8 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %9 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %10 = "top.Abs"(%9) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Squeeze"(%7) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Abs"(%11) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %13 = "top.Squeeze"(%8) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %15 = "top.Sin"(%6) : (tensor<1x4x2x5x8xf32>) -> tensor<1x4x2x5x8xf32>
  return %10, %12, %14, %15 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<1x4x2x5x8xf32>
}

// CHECK-LABEL: func.func @part_used_twice
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Squeeze"(%8){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%9){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Sin"(%7){{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: return %11, %13, %15, %16

// -----

// Refused: the whole is used, too.
func.func @whole_used(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<3x4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %7 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %8 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %9 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %10 = "top.Abs"(%9) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Squeeze"(%7) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Abs"(%11) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %13 = "top.Squeeze"(%8) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %15 = "top.Sin"(%5) : (tensor<3x4x2x5x8xf32>) -> tensor<3x4x2x5x8xf32>
  return %10, %12, %14, %15 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<3x4x2x5x8xf32>
}

// CHECK-LABEL: func.func @whole_used
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 3, 1, 4]{{.*}}-> tensor<4x3x2x5x8xf32>
// CHECK-NEXT: %6 = "top.Permute"(%5){{.*}}order = [1, 0, 2, 3, 4]{{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%6, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [2, 0, 0, 0, 0]{{.*}}-> tensor<1x4x2x5x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%7){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Squeeze"(%8){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%9){{.*}}axes = [0]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Sin"(%6){{.*}}-> tensor<3x4x2x5x8xf32>
// CHECK-NEXT: return %11, %13, %15, %16

// -----

// Refused: the only head is squeezed, too.
func.func @a_head_is_squeezed_too(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x16xf32>, tensor<4x5x16xf32>, tensor<4x5x16xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 1, 16]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x1x16xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x1x16xf32>) -> tensor<3x4x1x5x16xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 1, 5, 16], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x1x5x16xf32>, none, none, none) -> tensor<1x4x1x5x16xf32>
  %7 = "top.Squeeze"(%6) {axes = [0, 2]} : (tensor<1x4x1x5x16xf32>) -> tensor<4x5x16xf32>
  %8 = "top.Abs"(%7) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 1, 5, 16], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x1x5x16xf32>, none, none, none) -> tensor<1x4x1x5x16xf32>
  %10 = "top.Squeeze"(%9) {axes = [0, 2]} : (tensor<1x4x1x5x16xf32>) -> tensor<4x5x16xf32>
  %11 = "top.Abs"(%10) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 1, 5, 16], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x1x5x16xf32>, none, none, none) -> tensor<1x4x1x5x16xf32>
  %13 = "top.Squeeze"(%12) {axes = [0, 2]} : (tensor<1x4x1x5x16xf32>) -> tensor<4x5x16xf32>
  %14 = "top.Abs"(%13) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  return %8, %11, %14 : tensor<4x5x16xf32>, tensor<4x5x16xf32>, tensor<4x5x16xf32>
}

// CHECK-LABEL: func.func @a_head_is_squeezed_too
// CHECK: "top.Slice"({{.*}} : (tensor<3x4x1x5x16xf32>, none, none, none) -> tensor<1x4x1x5x16xf32>
// CHECK: return

// -----

// Refused: 4-D product, its rows are merged, but not to one dimension.
func.func @four_d_product_some_rows_merged(%arg0: tensor<2x3x4x16xf32>) -> (tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x4x16xf32>) -> tensor<2x3x4x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<2x3x4x16xf32>, tensor<16x48xf32>, none) -> tensor<2x3x4x48xf32>
  %4 = "top.Reshape"(%3) {shape = [2, 6, 6, 2, 8]} : (tensor<2x3x4x48xf32>) -> tensor<2x6x6x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<2x6x6x2x8xf32>) -> tensor<6x2x2x6x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 2, 2, 6, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x2x2x6x8xf32>, none, none, none) -> tensor<1x2x2x6x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %8 = "top.Abs"(%7) : (tensor<2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 2, 2, 6, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x2x2x6x8xf32>, none, none, none) -> tensor<1x2x2x6x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %11 = "top.Abs"(%10) : (tensor<2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 2, 2, 6, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x2x2x6x8xf32>, none, none, none) -> tensor<1x2x2x6x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %14 = "top.Abs"(%13) : (tensor<2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %15 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 2, 2, 6, 8], hasparamConvert_axes = [0], offset = [3, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x2x2x6x8xf32>, none, none, none) -> tensor<1x2x2x6x8xf32>
  %16 = "top.Squeeze"(%15) {axes = [0]} : (tensor<1x2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %17 = "top.Abs"(%16) : (tensor<2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %18 = "top.Slice"(%5, %0, %0, %0) {ends = [5, 2, 2, 6, 8], hasparamConvert_axes = [0], offset = [4, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x2x2x6x8xf32>, none, none, none) -> tensor<1x2x2x6x8xf32>
  %19 = "top.Squeeze"(%18) {axes = [0]} : (tensor<1x2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %20 = "top.Abs"(%19) : (tensor<2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %21 = "top.Slice"(%5, %0, %0, %0) {ends = [6, 2, 2, 6, 8], hasparamConvert_axes = [0], offset = [5, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x2x2x6x8xf32>, none, none, none) -> tensor<1x2x2x6x8xf32>
  %22 = "top.Squeeze"(%21) {axes = [0]} : (tensor<1x2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  %23 = "top.Abs"(%22) : (tensor<2x2x6x8xf32>) -> tensor<2x2x6x8xf32>
  return %8, %11, %14, %17, %20, %23 : tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>
}

// CHECK-LABEL: func.func @four_d_product_some_rows_merged
// CHECK: "top.Slice"({{.*}} : (tensor<6x2x2x6x8xf32>, none, none, none) -> tensor<1x2x2x6x8xf32>
// CHECK: return

// -----

// Refused: 4-D product, the second dimension has the size of its rows, but not the first.
func.func @four_d_product_batch_merged(%arg0: tensor<2x3x4x16xf32>) -> (tensor<1x2x12x8xf32>, tensor<1x2x12x8xf32>, tensor<1x2x12x8xf32>, tensor<1x2x12x8xf32>, tensor<1x2x12x8xf32>, tensor<1x2x12x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x4x16xf32>) -> tensor<2x3x4x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<2x3x4x16xf32>, tensor<16x48xf32>, none) -> tensor<2x3x4x48xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 12, 6, 2, 8]} : (tensor<2x3x4x48xf32>) -> tensor<1x12x6x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<1x12x6x2x8xf32>) -> tensor<6x1x2x12x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 1, 2, 12, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x1x2x12x8xf32>, none, none, none) -> tensor<1x1x2x12x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  %8 = "top.Abs"(%7) : (tensor<1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 1, 2, 12, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x1x2x12x8xf32>, none, none, none) -> tensor<1x1x2x12x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  %11 = "top.Abs"(%10) : (tensor<1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 1, 2, 12, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x1x2x12x8xf32>, none, none, none) -> tensor<1x1x2x12x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  %14 = "top.Abs"(%13) : (tensor<1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  %15 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 1, 2, 12, 8], hasparamConvert_axes = [0], offset = [3, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x1x2x12x8xf32>, none, none, none) -> tensor<1x1x2x12x8xf32>
  %16 = "top.Squeeze"(%15) {axes = [0]} : (tensor<1x1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  %17 = "top.Abs"(%16) : (tensor<1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  %18 = "top.Slice"(%5, %0, %0, %0) {ends = [5, 1, 2, 12, 8], hasparamConvert_axes = [0], offset = [4, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x1x2x12x8xf32>, none, none, none) -> tensor<1x1x2x12x8xf32>
  %19 = "top.Squeeze"(%18) {axes = [0]} : (tensor<1x1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  %20 = "top.Abs"(%19) : (tensor<1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  %21 = "top.Slice"(%5, %0, %0, %0) {ends = [6, 1, 2, 12, 8], hasparamConvert_axes = [0], offset = [5, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<6x1x2x12x8xf32>, none, none, none) -> tensor<1x1x2x12x8xf32>
  %22 = "top.Squeeze"(%21) {axes = [0]} : (tensor<1x1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  %23 = "top.Abs"(%22) : (tensor<1x2x12x8xf32>) -> tensor<1x2x12x8xf32>
  return %8, %11, %14, %17, %20, %23 : tensor<1x2x12x8xf32>, tensor<1x2x12x8xf32>, tensor<1x2x12x8xf32>, tensor<1x2x12x8xf32>, tensor<1x2x12x8xf32>, tensor<1x2x12x8xf32>
}

// CHECK-LABEL: func.func @four_d_product_batch_merged
// CHECK: "top.Slice"({{.*}} : (tensor<6x1x2x12x8xf32>, none, none, none) -> tensor<1x1x2x12x8xf32>
// CHECK: return

// -----

// Refused: the split dimension is one of those merged.
func.func @parts_cut_from_a_merged_dimension(%arg0: tensor<4x5x16xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Reshape"(%5) {shape = [12, 2, 5, 8]} : (tensor<3x4x2x5x8xf32>) -> tensor<12x2x5x8xf32>
  %7 = "top.Slice"(%6, %0, %0, %0) {ends = [1, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %8 = "top.Squeeze"(%7) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %9 = "top.Abs"(%8) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %10 = "top.Slice"(%6, %0, %0, %0) {ends = [2, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %11 = "top.Squeeze"(%10) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %12 = "top.Abs"(%11) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %13 = "top.Slice"(%6, %0, %0, %0) {ends = [3, 2, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %14 = "top.Squeeze"(%13) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %15 = "top.Abs"(%14) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %16 = "top.Slice"(%6, %0, %0, %0) {ends = [4, 2, 5, 8], hasparamConvert_axes = [0], offset = [3, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %17 = "top.Squeeze"(%16) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %18 = "top.Abs"(%17) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %19 = "top.Slice"(%6, %0, %0, %0) {ends = [5, 2, 5, 8], hasparamConvert_axes = [0], offset = [4, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %20 = "top.Squeeze"(%19) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %21 = "top.Abs"(%20) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %22 = "top.Slice"(%6, %0, %0, %0) {ends = [6, 2, 5, 8], hasparamConvert_axes = [0], offset = [5, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %23 = "top.Squeeze"(%22) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %24 = "top.Abs"(%23) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %25 = "top.Slice"(%6, %0, %0, %0) {ends = [7, 2, 5, 8], hasparamConvert_axes = [0], offset = [6, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %26 = "top.Squeeze"(%25) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %27 = "top.Abs"(%26) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %28 = "top.Slice"(%6, %0, %0, %0) {ends = [8, 2, 5, 8], hasparamConvert_axes = [0], offset = [7, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %29 = "top.Squeeze"(%28) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %30 = "top.Abs"(%29) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %31 = "top.Slice"(%6, %0, %0, %0) {ends = [9, 2, 5, 8], hasparamConvert_axes = [0], offset = [8, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %32 = "top.Squeeze"(%31) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %33 = "top.Abs"(%32) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %34 = "top.Slice"(%6, %0, %0, %0) {ends = [10, 2, 5, 8], hasparamConvert_axes = [0], offset = [9, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %35 = "top.Squeeze"(%34) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %36 = "top.Abs"(%35) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %37 = "top.Slice"(%6, %0, %0, %0) {ends = [11, 2, 5, 8], hasparamConvert_axes = [0], offset = [10, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %38 = "top.Squeeze"(%37) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %39 = "top.Abs"(%38) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %40 = "top.Slice"(%6, %0, %0, %0) {ends = [12, 2, 5, 8], hasparamConvert_axes = [0], offset = [11, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
  %41 = "top.Squeeze"(%40) {axes = [0]} : (tensor<1x2x5x8xf32>) -> tensor<2x5x8xf32>
  %42 = "top.Abs"(%41) : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %9, %12, %15, %18, %21, %24, %27, %30, %33, %36, %39, %42 : tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @parts_cut_from_a_merged_dimension
// CHECK: "top.Slice"({{.*}} : (tensor<12x2x5x8xf32>, none, none, none) -> tensor<1x2x5x8xf32>
// CHECK: return

// -----

// Refused: the reshape merges two dimensions and splits another.
func.func @reshape_merges_and_splits(%arg0: tensor<4x5x16xf32>) -> (tensor<8x5x4x2xf32>, tensor<8x5x4x2xf32>, tensor<8x5x4x2xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Reshape"(%5) {shape = [3, 8, 5, 4, 2]} : (tensor<3x4x2x5x8xf32>) -> tensor<3x8x5x4x2xf32>
  %7 = "top.Slice"(%6, %0, %0, %0) {ends = [1, 8, 5, 4, 2], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x8x5x4x2xf32>, none, none, none) -> tensor<1x8x5x4x2xf32>
  %8 = "top.Squeeze"(%7) {axes = [0]} : (tensor<1x8x5x4x2xf32>) -> tensor<8x5x4x2xf32>
  %9 = "top.Abs"(%8) : (tensor<8x5x4x2xf32>) -> tensor<8x5x4x2xf32>
  %10 = "top.Slice"(%6, %0, %0, %0) {ends = [2, 8, 5, 4, 2], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x8x5x4x2xf32>, none, none, none) -> tensor<1x8x5x4x2xf32>
  %11 = "top.Squeeze"(%10) {axes = [0]} : (tensor<1x8x5x4x2xf32>) -> tensor<8x5x4x2xf32>
  %12 = "top.Abs"(%11) : (tensor<8x5x4x2xf32>) -> tensor<8x5x4x2xf32>
  %13 = "top.Slice"(%6, %0, %0, %0) {ends = [3, 8, 5, 4, 2], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x8x5x4x2xf32>, none, none, none) -> tensor<1x8x5x4x2xf32>
  %14 = "top.Squeeze"(%13) {axes = [0]} : (tensor<1x8x5x4x2xf32>) -> tensor<8x5x4x2xf32>
  %15 = "top.Abs"(%14) : (tensor<8x5x4x2xf32>) -> tensor<8x5x4x2xf32>
  return %9, %12, %15 : tensor<8x5x4x2xf32>, tensor<8x5x4x2xf32>, tensor<8x5x4x2xf32>
}

// CHECK-LABEL: func.func @reshape_merges_and_splits
// CHECK: "top.Slice"({{.*}} : (tensor<3x8x5x4x2xf32>, none, none, none) -> tensor<1x8x5x4x2xf32>
// CHECK: return

// -----

// Refused: where a part begins is computed, whatever its attributes say.
func.func @a_part_begins_where_an_input_says(%arg0: tensor<4x5x16xf32>, %arg1: tensor<5xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %s = "top.Input"(%arg1) : (tensor<5xf32>) -> tensor<5xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %s, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, tensor<5xf32>, none, none) -> tensor<1x4x2x5x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  return %8, %11, %14 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>
}

// CHECK-LABEL: func.func @a_part_begins_where_an_input_says
// CHECK: "top.MatMul"({{.*}}-> tensor<4x5x48xf32>
// CHECK: "top.Slice"({{.*}} : (tensor<3x4x2x5x8xf32>, tensor<5xf32>, none, none) -> tensor<1x4x2x5x8xf32>
// CHECK: return

// -----

// Refused: it is rows that are split, not columns.
func.func @rows_in_two(%arg0: tensor<10x16xf32>) -> (tensor<5x2x8xf32>, tensor<5x2x8xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<10x16xf32>) -> tensor<10x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<16x16xf32> loc("w")
  %m = "top.MatMul"(%x, %w, %none) : (tensor<10x16xf32>, tensor<16x16xf32>, none) -> tensor<10x16xf32> loc("m")
  %r = "top.Reshape"(%m) {shape = [5, 2, 2, 8]} : (tensor<10x16xf32>) -> tensor<5x2x2x8xf32> loc("r")
  %p = "top.Permute"(%r) {order = [1, 0, 2, 3]} : (tensor<5x2x2x8xf32>) -> tensor<2x5x2x8xf32> loc("p")
  %k = "top.Slice"(%p, %none, %none, %none) {offset = [0, 0, 0, 0], ends = [1, 5, 2, 8], steps = [1, 1, 1, 1]} : (tensor<2x5x2x8xf32>, none, none, none) -> tensor<1x5x2x8xf32> loc("k")
  %ks = "top.Squeeze"(%k) {axes = [0]} : (tensor<1x5x2x8xf32>) -> tensor<5x2x8xf32> loc("ks")
  %v = "top.Slice"(%p, %none, %none, %none) {offset = [1, 0, 0, 0], ends = [2, 5, 2, 8], steps = [1, 1, 1, 1]} : (tensor<2x5x2x8xf32>, none, none, none) -> tensor<1x5x2x8xf32> loc("v")
  %vs = "top.Squeeze"(%v) {axes = [0]} : (tensor<1x5x2x8xf32>) -> tensor<5x2x8xf32> loc("vs")
  %ka = "top.Abs"(%ks) : (tensor<5x2x8xf32>) -> tensor<5x2x8xf32> loc("ka")
  %va = "top.Abs"(%vs) : (tensor<5x2x8xf32>) -> tensor<5x2x8xf32> loc("va")
  return %ka, %va : tensor<5x2x8xf32>, tensor<5x2x8xf32>
}

// CHECK-LABEL: func.func @rows_in_two
// CHECK: "top.Permute"{{.*}} -> tensor<2x5x2x8xf32>
