// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s

// MatmulWithPermuteAndSplit: the parts are cut from the product, each gets its permute.

// One permute.
func.func @one_permute(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) {
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
  return %8, %11, %14 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>
}

// CHECK-LABEL: func.func @one_permute
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Permute"(%10){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %15 = "top.Permute"(%14){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: return %8, %12, %16

// -----

// Two permutes.
func.func @two_permutes(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) {
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
  return %9, %12, %15 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>
}

// CHECK-LABEL: func.func @two_permutes
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Permute"(%10){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %15 = "top.Permute"(%14){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: return %8, %12, %16

// -----

// Rows and batch swap.
func.func @rows_and_batch_swap(%arg0: tensor<4x5x16xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 3, 1, 0, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x2x5x4x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 2, 5, 4, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x5x4x8xf32>, none, none, none) -> tensor<1x2x5x4x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
  %8 = "top.Abs"(%7) : (tensor<2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 2, 5, 4, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x5x4x8xf32>, none, none, none) -> tensor<1x2x5x4x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
  %11 = "top.Abs"(%10) : (tensor<2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 2, 5, 4, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x5x4x8xf32>, none, none, none) -> tensor<1x2x5x4x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
  %14 = "top.Abs"(%13) : (tensor<2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
  return %8, %11, %14 : tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>
}

// CHECK-LABEL: func.func @rows_and_batch_swap
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [2, 1, 0, 3]{{.*}}-> tensor<2x5x4x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<2x5x4x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Permute"(%10){{.*}}order = [2, 1, 0, 3]{{.*}}-> tensor<2x5x4x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<2x5x4x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %15 = "top.Permute"(%14){{.*}}order = [2, 1, 0, 3]{{.*}}-> tensor<2x5x4x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<2x5x4x8xf32>
// CHECK-NEXT: return %8, %12, %16

// -----

// Merged.
func.func @merged(%arg0: tensor<4x5x16xf32>) -> (tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<8x5x8xf32>) {
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
  return %9, %12, %15 : tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<8x5x8xf32>
}

// CHECK-LABEL: func.func @merged
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Reshape"(%7){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %10 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %12 = "top.Permute"(%11){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Reshape"(%12){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %14 = "top.Abs"(%13){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %15 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %16 = "top.Squeeze"(%15){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %17 = "top.Permute"(%16){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %18 = "top.Reshape"(%17){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %19 = "top.Abs"(%18){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: return %9, %14, %19

// -----

// Merged in front of the split.
func.func @merged_in_front_of_the_split(%arg0: tensor<4x5x16xf32>) -> (tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<8x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [0, 3, 1, 2, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<4x2x5x3x8xf32>
  %6 = "top.Reshape"(%5) {shape = [8, 5, 3, 8]} : (tensor<4x2x5x3x8xf32>) -> tensor<8x5x3x8xf32>
  %7 = "top.Slice"(%6, %0, %0, %0) {ends = [8, 5, 1, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<8x5x3x8xf32>, none, none, none) -> tensor<8x5x1x8xf32>
  %8 = "top.Squeeze"(%7) {axes = [2]} : (tensor<8x5x1x8xf32>) -> tensor<8x5x8xf32>
  %9 = "top.Abs"(%8) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  %10 = "top.Slice"(%6, %0, %0, %0) {ends = [8, 5, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0], steps = [1, 1, 1, 1]} : (tensor<8x5x3x8xf32>, none, none, none) -> tensor<8x5x1x8xf32>
  %11 = "top.Squeeze"(%10) {axes = [2]} : (tensor<8x5x1x8xf32>) -> tensor<8x5x8xf32>
  %12 = "top.Abs"(%11) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  %13 = "top.Slice"(%6, %0, %0, %0) {ends = [8, 5, 3, 8], hasparamConvert_axes = [2], offset = [0, 0, 2, 0], steps = [1, 1, 1, 1]} : (tensor<8x5x3x8xf32>, none, none, none) -> tensor<8x5x1x8xf32>
  %14 = "top.Squeeze"(%13) {axes = [2]} : (tensor<8x5x1x8xf32>) -> tensor<8x5x8xf32>
  %15 = "top.Abs"(%14) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  return %9, %12, %15 : tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<8x5x8xf32>
}

// CHECK-LABEL: func.func @merged_in_front_of_the_split
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Reshape"(%7){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %10 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %12 = "top.Permute"(%11){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Reshape"(%12){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %14 = "top.Abs"(%13){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %15 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %16 = "top.Squeeze"(%15){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %17 = "top.Permute"(%16){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %18 = "top.Reshape"(%17){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %19 = "top.Abs"(%18){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: return %9, %14, %19

// -----

// Two permutes, merged.
func.func @two_permutes_merged(%arg0: tensor<4x5x16xf32>) -> (tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<8x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [0, 2, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<4x3x2x5x8xf32>
  %6 = "top.Permute"(%5) {order = [1, 0, 2, 3, 4]} : (tensor<4x3x2x5x8xf32>) -> tensor<3x4x2x5x8xf32>
  %7 = "top.Reshape"(%6) {shape = [3, 8, 5, 8]} : (tensor<3x4x2x5x8xf32>) -> tensor<3x8x5x8xf32>
  %8 = "top.Slice"(%7, %0, %0, %0) {ends = [1, 8, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x8x5x8xf32>, none, none, none) -> tensor<1x8x5x8xf32>
  %9 = "top.Squeeze"(%8) {axes = [0]} : (tensor<1x8x5x8xf32>) -> tensor<8x5x8xf32>
  %10 = "top.Abs"(%9) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  %11 = "top.Slice"(%7, %0, %0, %0) {ends = [2, 8, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x8x5x8xf32>, none, none, none) -> tensor<1x8x5x8xf32>
  %12 = "top.Squeeze"(%11) {axes = [0]} : (tensor<1x8x5x8xf32>) -> tensor<8x5x8xf32>
  %13 = "top.Abs"(%12) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  %14 = "top.Slice"(%7, %0, %0, %0) {ends = [3, 8, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x8x5x8xf32>, none, none, none) -> tensor<1x8x5x8xf32>
  %15 = "top.Squeeze"(%14) {axes = [0]} : (tensor<1x8x5x8xf32>) -> tensor<8x5x8xf32>
  %16 = "top.Abs"(%15) : (tensor<8x5x8xf32>) -> tensor<8x5x8xf32>
  return %10, %13, %16 : tensor<8x5x8xf32>, tensor<8x5x8xf32>, tensor<8x5x8xf32>
}

// CHECK-LABEL: func.func @two_permutes_merged
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Reshape"(%7){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %10 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %11 = "top.Squeeze"(%10){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %12 = "top.Permute"(%11){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Reshape"(%12){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %14 = "top.Abs"(%13){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %15 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %16 = "top.Squeeze"(%15){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %17 = "top.Permute"(%16){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %18 = "top.Reshape"(%17){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: %19 = "top.Abs"(%18){{.*}}-> tensor<8x5x8xf32>
// CHECK-NEXT: return %9, %14, %19

// -----

// 4-D product.
func.func @four_d_product(%arg0: tensor<2x3x4x16xf32>) -> (tensor<2x2x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x4x16xf32>) -> tensor<2x3x4x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<2x3x4x16xf32>, tensor<16x48xf32>, none) -> tensor<2x3x4x48xf32>
  %4 = "top.Reshape"(%3) {shape = [2, 12, 3, 2, 8]} : (tensor<2x3x4x48xf32>) -> tensor<2x12x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<2x12x3x2x8xf32>) -> tensor<3x2x2x12x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 2, 2, 12, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x2x12x8xf32>, none, none, none) -> tensor<1x2x2x12x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x2x2x12x8xf32>) -> tensor<2x2x12x8xf32>
  %8 = "top.Abs"(%7) : (tensor<2x2x12x8xf32>) -> tensor<2x2x12x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 2, 2, 12, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x2x12x8xf32>, none, none, none) -> tensor<1x2x2x12x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x2x2x12x8xf32>) -> tensor<2x2x12x8xf32>
  %11 = "top.Abs"(%10) : (tensor<2x2x12x8xf32>) -> tensor<2x2x12x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 2, 2, 12, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x2x2x12x8xf32>, none, none, none) -> tensor<1x2x2x12x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x2x2x12x8xf32>) -> tensor<2x2x12x8xf32>
  %14 = "top.Abs"(%13) : (tensor<2x2x12x8xf32>) -> tensor<2x2x12x8xf32>
  return %8, %11, %14 : tensor<2x2x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x8xf32>
}

// CHECK-LABEL: func.func @four_d_product
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<2x3x4x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<2x12x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<2x12x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<2x12x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x2x12x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<2x2x12x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<2x12x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [2]{{.*}}-> tensor<2x12x2x8xf32>
// CHECK-NEXT: %11 = "top.Permute"(%10){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x2x12x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<2x2x12x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<2x12x1x2x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [2]{{.*}}-> tensor<2x12x2x8xf32>
// CHECK-NEXT: %15 = "top.Permute"(%14){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x2x12x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<2x2x12x8xf32>
// CHECK-NEXT: return %8, %12, %16

// -----

// 4-D product, two more dimensions.
func.func @four_d_product_two_more_dimensions(%arg0: tensor<2x3x4x16xf32>) -> (tensor<2x2x3x4x8xf32>, tensor<2x2x3x4x8xf32>, tensor<2x2x3x4x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x4x16xf32>) -> tensor<2x3x4x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<2x3x4x16xf32>, tensor<16x48xf32>, none) -> tensor<2x3x4x48xf32>
  %4 = "top.Reshape"(%3) {shape = [2, 3, 4, 3, 2, 8]} : (tensor<2x3x4x48xf32>) -> tensor<2x3x4x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [3, 0, 4, 1, 2, 5]} : (tensor<2x3x4x3x2x8xf32>) -> tensor<3x2x2x3x4x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 2, 2, 3, 4, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1, 1]} : (tensor<3x2x2x3x4x8xf32>, none, none, none) -> tensor<1x2x2x3x4x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x2x2x3x4x8xf32>) -> tensor<2x2x3x4x8xf32>
  %8 = "top.Abs"(%7) : (tensor<2x2x3x4x8xf32>) -> tensor<2x2x3x4x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 2, 2, 3, 4, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1, 1]} : (tensor<3x2x2x3x4x8xf32>, none, none, none) -> tensor<1x2x2x3x4x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x2x2x3x4x8xf32>) -> tensor<2x2x3x4x8xf32>
  %11 = "top.Abs"(%10) : (tensor<2x2x3x4x8xf32>) -> tensor<2x2x3x4x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 2, 2, 3, 4, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1, 1]} : (tensor<3x2x2x3x4x8xf32>, none, none, none) -> tensor<1x2x2x3x4x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x2x2x3x4x8xf32>) -> tensor<2x2x3x4x8xf32>
  %14 = "top.Abs"(%13) : (tensor<2x2x3x4x8xf32>) -> tensor<2x2x3x4x8xf32>
  return %8, %11, %14 : tensor<2x2x3x4x8xf32>, tensor<2x2x3x4x8xf32>, tensor<2x2x3x4x8xf32>
}

// CHECK-LABEL: func.func @four_d_product_two_more_dimensions
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<2x3x4x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<2x3x4x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [3]{{.*}}offset = [0, 0, 0, 0, 0, 0]{{.*}}-> tensor<2x3x4x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [3]{{.*}}-> tensor<2x3x4x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 3, 1, 2, 4]{{.*}}-> tensor<2x2x3x4x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<2x2x3x4x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [3]{{.*}}offset = [0, 0, 0, 1, 0, 0]{{.*}}-> tensor<2x3x4x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [3]{{.*}}-> tensor<2x3x4x2x8xf32>
// CHECK-NEXT: %11 = "top.Permute"(%10){{.*}}order = [0, 3, 1, 2, 4]{{.*}}-> tensor<2x2x3x4x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<2x2x3x4x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [3]{{.*}}offset = [0, 0, 0, 2, 0, 0]{{.*}}-> tensor<2x3x4x1x2x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [3]{{.*}}-> tensor<2x3x4x2x8xf32>
// CHECK-NEXT: %15 = "top.Permute"(%14){{.*}}order = [0, 3, 1, 2, 4]{{.*}}-> tensor<2x2x3x4x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<2x2x3x4x8xf32>
// CHECK-NEXT: return %8, %12, %16

// -----

// 2-D product.
func.func @two_d_product(%arg0: tensor<20x16xf32>) -> (tensor<2x20x8xf32>, tensor<2x20x8xf32>, tensor<2x20x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<20x16xf32>) -> tensor<20x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<20x16xf32>, tensor<16x48xf32>, none) -> tensor<20x48xf32>
  %4 = "top.Reshape"(%3) {shape = [20, 3, 2, 8]} : (tensor<20x48xf32>) -> tensor<20x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [1, 2, 0, 3]} : (tensor<20x3x2x8xf32>) -> tensor<3x2x20x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 2, 20, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x2x20x8xf32>, none, none, none) -> tensor<1x2x20x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x2x20x8xf32>) -> tensor<2x20x8xf32>
  %8 = "top.Abs"(%7) : (tensor<2x20x8xf32>) -> tensor<2x20x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 2, 20, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x2x20x8xf32>, none, none, none) -> tensor<1x2x20x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x2x20x8xf32>) -> tensor<2x20x8xf32>
  %11 = "top.Abs"(%10) : (tensor<2x20x8xf32>) -> tensor<2x20x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 2, 20, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<3x2x20x8xf32>, none, none, none) -> tensor<1x2x20x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x2x20x8xf32>) -> tensor<2x20x8xf32>
  %14 = "top.Abs"(%13) : (tensor<2x20x8xf32>) -> tensor<2x20x8xf32>
  return %8, %11, %14 : tensor<2x20x8xf32>, tensor<2x20x8xf32>, tensor<2x20x8xf32>
}

// CHECK-LABEL: func.func @two_d_product
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<20x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<20x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<20x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [1]{{.*}}-> tensor<20x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [1, 0, 2]{{.*}}-> tensor<2x20x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<2x20x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 1, 0, 0]{{.*}}-> tensor<20x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [1]{{.*}}-> tensor<20x2x8xf32>
// CHECK-NEXT: %11 = "top.Permute"(%10){{.*}}order = [1, 0, 2]{{.*}}-> tensor<2x20x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<2x20x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 2, 0, 0]{{.*}}-> tensor<20x1x2x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [1]{{.*}}-> tensor<20x2x8xf32>
// CHECK-NEXT: %15 = "top.Permute"(%14){{.*}}order = [1, 0, 2]{{.*}}-> tensor<2x20x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<2x20x8xf32>
// CHECK-NEXT: return %8, %12, %16

// -----

// Split in the middle.
func.func @split_in_the_middle(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [0, 2, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<4x3x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 1, 2, 5, 8], hasparamConvert_axes = [1], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x3x2x5x8xf32>, none, none, none) -> tensor<4x1x2x5x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [1]} : (tensor<4x1x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 2, 2, 5, 8], hasparamConvert_axes = [1], offset = [0, 1, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x3x2x5x8xf32>, none, none, none) -> tensor<4x1x2x5x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [1]} : (tensor<4x1x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 3, 2, 5, 8], hasparamConvert_axes = [1], offset = [0, 2, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x3x2x5x8xf32>, none, none, none) -> tensor<4x1x2x5x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [1]} : (tensor<4x1x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  return %8, %11, %14 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>
}

// CHECK-LABEL: func.func @split_in_the_middle
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Permute"(%10){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %15 = "top.Permute"(%14){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: return %8, %12, %16

// -----

// Split at the end.
func.func @split_at_the_end(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [0, 3, 1, 4, 2]} : (tensor<4x5x3x2x8xf32>) -> tensor<4x2x5x8x3xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 2, 5, 8, 1], hasparamConvert_axes = [4], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x2x5x8x3xf32>, none, none, none) -> tensor<4x2x5x8x1xf32>
  %7 = "top.Squeeze"(%6) {axes = [4]} : (tensor<4x2x5x8x1xf32>) -> tensor<4x2x5x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 2, 5, 8, 2], hasparamConvert_axes = [4], offset = [0, 0, 0, 0, 1], steps = [1, 1, 1, 1, 1]} : (tensor<4x2x5x8x3xf32>, none, none, none) -> tensor<4x2x5x8x1xf32>
  %10 = "top.Squeeze"(%9) {axes = [4]} : (tensor<4x2x5x8x1xf32>) -> tensor<4x2x5x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 2, 5, 8, 3], hasparamConvert_axes = [4], offset = [0, 0, 0, 0, 2], steps = [1, 1, 1, 1, 1]} : (tensor<4x2x5x8x3xf32>, none, none, none) -> tensor<4x2x5x8x1xf32>
  %13 = "top.Squeeze"(%12) {axes = [4]} : (tensor<4x2x5x8x1xf32>) -> tensor<4x2x5x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  return %8, %11, %14 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>
}

// CHECK-LABEL: func.func @split_at_the_end
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Permute"(%10){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %15 = "top.Permute"(%14){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: return %8, %12, %16

// -----

// Heads are split.
func.func @heads_are_split(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 2, 3, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x2x3x8xf32>
  %5 = "top.Permute"(%4) {order = [3, 0, 2, 1, 4]} : (tensor<4x5x2x3x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
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

// CHECK-LABEL: func.func @heads_are_split
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x2x3x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [3]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x2x1x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [3]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [3]{{.*}}offset = [0, 0, 0, 1, 0]{{.*}}-> tensor<4x5x2x1x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [3]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Permute"(%10){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [3]{{.*}}offset = [0, 0, 0, 2, 0]{{.*}}-> tensor<4x5x2x1x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [3]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %15 = "top.Permute"(%14){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: return %8, %12, %16

// -----

// Only the split dimension moves: no permute is left.
func.func @front_only(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 1, 3, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x5x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 5, 2, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x5x2x8xf32>, none, none, none) -> tensor<1x4x5x2x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 5, 2, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x5x2x8xf32>, none, none, none) -> tensor<1x4x5x2x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 5, 2, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x5x2x8xf32>, none, none, none) -> tensor<1x4x5x2x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  return %8, %11, %14 : tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>
}

// CHECK-LABEL: func.func @front_only
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Abs"(%6){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %8 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %9 = "top.Squeeze"(%8){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %10 = "top.Abs"(%9){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %12 = "top.Squeeze"(%11){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: return %7, %10, %13

// -----

// Another use of the product does not matter.
func.func @product_is_used(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x5x48xf32>) {
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
  %15 = "top.Abs"(%3) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32>
  return %8, %11, %14, %15 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x5x48xf32>
}

// CHECK-LABEL: func.func @product_is_used
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Permute"(%10){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Abs"(%11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %14 = "top.Squeeze"(%13){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %15 = "top.Permute"(%14){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Abs"(%15){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %17 = "top.Abs"(%3){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: return %8, %12, %16, %17

// -----

// Each user of a part gets a permute of its own.
func.func @several_users(%arg0: tensor<4x5x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<4x5x3x2x8xf32>) -> tensor<3x4x2x5x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %8 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %9 = "top.Squeeze"(%8) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %10 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 4, 2, 5, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x4x2x5x8xf32>, none, none, none) -> tensor<1x4x2x5x8xf32>
  %11 = "top.Squeeze"(%10) {axes = [0]} : (tensor<1x4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %12 = "top.Mul"(%7, %7) : (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  %13 = "top.Sin"(%7) : (tensor<4x2x5x8xf32>) -> tensor<4x2x5x8xf32>
  return %12, %13, %9, %11 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>
}

// CHECK-LABEL: func.func @several_users
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %7 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %8 = "top.Squeeze"(%7){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %12 = "top.Mul"(%11, %11){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %13 = "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %14 = "top.Sin"(%13){{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %15 = "top.Permute"(%8){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: %16 = "top.Permute"(%10){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>
// CHECK-NEXT: return %12, %14, %15, %16

// -----

// Rows are split, too.
func.func @rows_are_split(%arg0: tensor<20x16xf32>) -> (tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<20x16xf32>) -> tensor<20x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<20x16xf32>, tensor<16x48xf32>, none) -> tensor<20x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<20x48xf32>) -> tensor<4x5x3x2x8xf32>
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
  return %8, %11, %14 : tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>, tensor<4x2x5x8xf32>
}

// CHECK-LABEL: func.func @rows_are_split
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<20x48xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK: "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<4x2x5x8xf32>

// -----

// 4-D product, other rows merged.
func.func @four_d_product_other_rows_merged(%arg0: tensor<2x3x4x16xf32>) -> (tensor<6x2x4x8xf32>, tensor<6x2x4x8xf32>, tensor<6x2x4x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x4x16xf32>) -> tensor<2x3x4x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<2x3x4x16xf32>, tensor<16x48xf32>, none) -> tensor<2x3x4x48xf32>
  %4 = "top.Reshape"(%3) {shape = [6, 4, 3, 2, 8]} : (tensor<2x3x4x48xf32>) -> tensor<6x4x3x2x8xf32>
  %5 = "top.Permute"(%4) {order = [2, 0, 3, 1, 4]} : (tensor<6x4x3x2x8xf32>) -> tensor<3x6x2x4x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 6, 2, 4, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x6x2x4x8xf32>, none, none, none) -> tensor<1x6x2x4x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [0]} : (tensor<1x6x2x4x8xf32>) -> tensor<6x2x4x8xf32>
  %8 = "top.Abs"(%7) : (tensor<6x2x4x8xf32>) -> tensor<6x2x4x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 6, 2, 4, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x6x2x4x8xf32>, none, none, none) -> tensor<1x6x2x4x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [0]} : (tensor<1x6x2x4x8xf32>) -> tensor<6x2x4x8xf32>
  %11 = "top.Abs"(%10) : (tensor<6x2x4x8xf32>) -> tensor<6x2x4x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 6, 2, 4, 8], hasparamConvert_axes = [0], offset = [2, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<3x6x2x4x8xf32>, none, none, none) -> tensor<1x6x2x4x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [0]} : (tensor<1x6x2x4x8xf32>) -> tensor<6x2x4x8xf32>
  %14 = "top.Abs"(%13) : (tensor<6x2x4x8xf32>) -> tensor<6x2x4x8xf32>
  return %8, %11, %14 : tensor<6x2x4x8xf32>, tensor<6x2x4x8xf32>, tensor<6x2x4x8xf32>
}

// CHECK-LABEL: func.func @four_d_product_other_rows_merged
// CHECK: %4 = "top.Reshape"(%3){{.*}}-> tensor<6x4x3x2x8xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}-> tensor<6x4x1x2x8xf32>
// CHECK-NEXT: %6 = "top.Squeeze"(%5){{.*}}axes = [2]{{.*}}-> tensor<6x4x2x8xf32>
// CHECK: "top.Permute"(%6){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<6x2x4x8xf32>

// -----

// Columns in two: keys and values of tokens that come first, all images of each side by side.
func.func @columns_in_two(%arg0: tensor<5x4x16xf32>) -> (tensor<5x4x8xf32>, tensor<5x4x8xf32>) {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<5x4x16xf32>) -> tensor<5x4x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<16x16xf32> loc("w")
  %m = "top.MatMul"(%x, %w, %none) : (tensor<5x4x16xf32>, tensor<16x16xf32>, none) -> tensor<5x4x16xf32> loc("m")
  %r = "top.Reshape"(%m) {shape = [5, 4, 2, 8]} : (tensor<5x4x16xf32>) -> tensor<5x4x2x8xf32> loc("r")
  %p = "top.Permute"(%r) {order = [2, 0, 1, 3]} : (tensor<5x4x2x8xf32>) -> tensor<2x5x4x8xf32> loc("p")
  %k = "top.Slice"(%p, %none, %none, %none) {offset = [0, 0, 0, 0], ends = [1, 5, 4, 8], steps = [1, 1, 1, 1]} : (tensor<2x5x4x8xf32>, none, none, none) -> tensor<1x5x4x8xf32> loc("k")
  %ks = "top.Squeeze"(%k) {axes = [0]} : (tensor<1x5x4x8xf32>) -> tensor<5x4x8xf32> loc("ks")
  %v = "top.Slice"(%p, %none, %none, %none) {offset = [1, 0, 0, 0], ends = [2, 5, 4, 8], steps = [1, 1, 1, 1]} : (tensor<2x5x4x8xf32>, none, none, none) -> tensor<1x5x4x8xf32> loc("v")
  %vs = "top.Squeeze"(%v) {axes = [0]} : (tensor<1x5x4x8xf32>) -> tensor<5x4x8xf32> loc("vs")
  %ka = "top.Abs"(%ks) : (tensor<5x4x8xf32>) -> tensor<5x4x8xf32> loc("ka")
  %va = "top.Abs"(%vs) : (tensor<5x4x8xf32>) -> tensor<5x4x8xf32> loc("va")
  return %ka, %va : tensor<5x4x8xf32>, tensor<5x4x8xf32>
}

// CHECK-LABEL: func.func @columns_in_two
// CHECK: [[R:%.*]] = "top.Reshape"({{.*}} -> tensor<5x4x2x8xf32>
// CHECK-NEXT: [[K:%.*]] = "top.Slice"([[R]], {{.*}}offset = [0, 0, 0, 0]{{.*}} -> tensor<5x4x1x8xf32>
// CHECK-NEXT: "top.Squeeze"([[K]]) {axes = [2]
// CHECK-NEXT: [[V:%.*]] = "top.Slice"([[R]], {{.*}}offset = [0, 0, 1, 0]{{.*}} -> tensor<5x4x1x8xf32>
// CHECK-NEXT: "top.Squeeze"([[V]]) {axes = [2]
// CHECK-NEXT: "top.Abs"
// CHECK-NEXT: "top.Abs"
// CHECK-NEXT: return
