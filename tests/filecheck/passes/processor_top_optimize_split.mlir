// RUN: tpu-opt %s --split-input-file --processor-top-optimize --no-locations | filecheck %s

// SplitMatMulPattern: one product for each part of the columns.

// Q, k and v.
func.func @split_q_k_and_v(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 1, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 2, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  return %8, %11, %14 : tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>
}

// CHECK-LABEL: func.func @split_q_k_and_v
// CHECK: %3 = "top.MatMul"(%0, %1, %2){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %4 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %5 = "top.Weight"(){{.*}}-> tensor<1x1x16xf32>
// CHECK-NEXT: %6 = "top.MatMul"(%0, %4, %5){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %7 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %8 = "top.Weight"(){{.*}}-> tensor<1x1x16xf32>
// CHECK-NEXT: %9 = "top.MatMul"(%0, %7, %8){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %10 = "top.Reshape"(%3){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %12 = "top.Reshape"(%6){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %14 = "top.Reshape"(%9){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: return %11, %13, %15

// -----

// No bias.
func.func @split_no_bias(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 1, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %6 = "top.Squeeze"(%5) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %7 = "top.Abs"(%6) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %8 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %9 = "top.Squeeze"(%8) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %10 = "top.Abs"(%9) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %11 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 2, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %12 = "top.Squeeze"(%11) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %13 = "top.Abs"(%12) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  return %7, %10, %13 : tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>
}

// CHECK-LABEL: func.func @split_no_bias
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %4 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %5 = "top.MatMul"(%1, %4, %0){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %6 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %7 = "top.MatMul"(%1, %6, %0){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %8 = "top.Reshape"(%3){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %10 = "top.Reshape"(%5){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %12 = "top.Reshape"(%7){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: return %9, %11, %13

// -----

// No Reshape.
func.func @split_no_reshape(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x16xf32>, tensor<4x5x32xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 16], hasparamConvert_axes = [2], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<4x5x48xf32>, none, none, none) -> tensor<4x5x16xf32>
  %6 = "top.Abs"(%5) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %7 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 48], hasparamConvert_axes = [2], offset = [0, 0, 16], steps = [1, 1, 1]} : (tensor<4x5x48xf32>, none, none, none) -> tensor<4x5x32xf32>
  %8 = "top.Abs"(%7) : (tensor<4x5x32xf32>) -> tensor<4x5x32xf32>
  return %6, %8 : tensor<4x5x16xf32>, tensor<4x5x32xf32>
}

// CHECK-LABEL: func.func @split_no_reshape
// CHECK: %3 = "top.MatMul"(%0, %1, %2){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %4 = "top.Weight"(){{.*}}-> tensor<16x32xf32>
// CHECK-NEXT: %5 = "top.Weight"(){{.*}}-> tensor<1x1x32xf32>
// CHECK-NEXT: %6 = "top.MatMul"(%0, %4, %5){{.*}}do_relu = true{{.*}}-> tensor<4x5x32xf32>
// CHECK-NEXT: %7 = "top.Abs"(%3){{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %8 = "top.Abs"(%6){{.*}}-> tensor<4x5x32xf32>
// CHECK-NEXT: return %7, %8

// -----

// Two Reshapes.
func.func @split_two_reshapes(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [20, 48]} : (tensor<4x5x48xf32>) -> tensor<20x48xf32>
  %6 = "top.Reshape"(%5) {shape = [4, 5, 3, 2, 8]} : (tensor<20x48xf32>) -> tensor<4x5x3x2x8xf32>
  %7 = "top.Slice"(%6, %0, %0, %0) {ends = [4, 5, 1, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %8 = "top.Squeeze"(%7) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %9 = "top.Abs"(%8) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %10 = "top.Slice"(%6, %0, %0, %0) {ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %11 = "top.Squeeze"(%10) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %12 = "top.Abs"(%11) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %13 = "top.Slice"(%6, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 2, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %14 = "top.Squeeze"(%13) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %15 = "top.Abs"(%14) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  return %9, %12, %15 : tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>
}

// CHECK-LABEL: func.func @split_two_reshapes
// CHECK: %3 = "top.MatMul"(%0, %1, %2){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %4 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %5 = "top.Weight"(){{.*}}-> tensor<1x1x16xf32>
// CHECK-NEXT: %6 = "top.MatMul"(%0, %4, %5){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %7 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %8 = "top.Weight"(){{.*}}-> tensor<1x1x16xf32>
// CHECK-NEXT: %9 = "top.MatMul"(%0, %7, %8){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %10 = "top.Reshape"(%3){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %12 = "top.Reshape"(%6){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %14 = "top.Reshape"(%9){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: return %11, %13, %15

// -----

// Unequal parts.
func.func @split_unequal_parts(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x2x8xf32>, tensor<4x5x1x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x2x2x8xf32>
  %7 = "top.Abs"(%6) : (tensor<4x5x2x2x8xf32>) -> tensor<4x5x2x2x8xf32>
  %8 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 2, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %9 = "top.Abs"(%8) : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x1x2x8xf32>
  return %7, %9 : tensor<4x5x2x2x8xf32>, tensor<4x5x1x2x8xf32>
}

// CHECK-LABEL: func.func @split_unequal_parts
// CHECK: %3 = "top.MatMul"(%0, %1, %2){{.*}}do_relu = true{{.*}}-> tensor<4x5x32xf32>
// CHECK-NEXT: %4 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %5 = "top.Weight"(){{.*}}-> tensor<1x1x16xf32>
// CHECK-NEXT: %6 = "top.MatMul"(%0, %4, %5){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %7 = "top.Reshape"(%3){{.*}}-> tensor<4x5x2x2x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x5x2x2x8xf32>
// CHECK-NEXT: %9 = "top.Reshape"(%6){{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Abs"(%9){{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: return %8, %10

// -----

// Cuts in another order.
func.func @split_cuts_in_another_order(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 2, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 1, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  return %8, %11, %14 : tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>
}

// CHECK-LABEL: func.func @split_cuts_in_another_order
// CHECK: %3 = "top.MatMul"(%0, %1, %2){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %4 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %5 = "top.Weight"(){{.*}}-> tensor<1x1x16xf32>
// CHECK-NEXT: %6 = "top.MatMul"(%0, %4, %5){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %7 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %8 = "top.Weight"(){{.*}}-> tensor<1x1x16xf32>
// CHECK-NEXT: %9 = "top.MatMul"(%0, %7, %8){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %10 = "top.Reshape"(%6){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %12 = "top.Reshape"(%9){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %14 = "top.Reshape"(%3){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: return %11, %13, %15

// -----

// Rows merged.
func.func @split_rows_merged(%arg0: tensor<2x3x4x16xf32>) -> (tensor<2x12x2x8xf32>, tensor<2x12x2x8xf32>, tensor<2x12x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x4x16xf32>) -> tensor<2x3x4x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<2x3x4x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<2x3x4x48xf32>
  %5 = "top.Reshape"(%4) {shape = [2, 12, 3, 2, 8]} : (tensor<2x3x4x48xf32>) -> tensor<2x12x3x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 12, 1, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<2x12x3x2x8xf32>, none, none, none) -> tensor<2x12x1x2x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [2]} : (tensor<2x12x1x2x8xf32>) -> tensor<2x12x2x8xf32>
  %8 = "top.Abs"(%7) : (tensor<2x12x2x8xf32>) -> tensor<2x12x2x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 12, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<2x12x3x2x8xf32>, none, none, none) -> tensor<2x12x1x2x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [2]} : (tensor<2x12x1x2x8xf32>) -> tensor<2x12x2x8xf32>
  %11 = "top.Abs"(%10) : (tensor<2x12x2x8xf32>) -> tensor<2x12x2x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [2, 12, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 2, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<2x12x3x2x8xf32>, none, none, none) -> tensor<2x12x1x2x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [2]} : (tensor<2x12x1x2x8xf32>) -> tensor<2x12x2x8xf32>
  %14 = "top.Abs"(%13) : (tensor<2x12x2x8xf32>) -> tensor<2x12x2x8xf32>
  return %8, %11, %14 : tensor<2x12x2x8xf32>, tensor<2x12x2x8xf32>, tensor<2x12x2x8xf32>
}

// CHECK-LABEL: func.func @split_rows_merged
// CHECK: %3 = "top.MatMul"(%0, %1, %2){{.*}}do_relu = true{{.*}}-> tensor<2x3x4x16xf32>
// CHECK-NEXT: %4 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %5 = "top.Weight"(){{.*}}-> tensor<1x1x16xf32>
// CHECK-NEXT: %6 = "top.MatMul"(%0, %4, %5){{.*}}do_relu = true{{.*}}-> tensor<2x3x4x16xf32>
// CHECK-NEXT: %7 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %8 = "top.Weight"(){{.*}}-> tensor<1x1x16xf32>
// CHECK-NEXT: %9 = "top.MatMul"(%0, %7, %8){{.*}}do_relu = true{{.*}}-> tensor<2x3x4x16xf32>
// CHECK-NEXT: %10 = "top.Reshape"(%3){{.*}}-> tensor<2x12x2x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<2x12x2x8xf32>
// CHECK-NEXT: %12 = "top.Reshape"(%6){{.*}}-> tensor<2x12x2x8xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<2x12x2x8xf32>
// CHECK-NEXT: %14 = "top.Reshape"(%9){{.*}}-> tensor<2x12x2x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<2x12x2x8xf32>
// CHECK-NEXT: return %11, %13, %15

// -----

// A one in front of the columns.
func.func @split_a_one_in_front_of_the_columns(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x1x16xf32>, tensor<4x5x1x16xf32>, tensor<4x5x1x16xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 1, 3, 16]} : (tensor<4x5x48xf32>) -> tensor<4x5x1x3x16xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 1, 1, 16], hasparamConvert_axes = [3], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x1x3x16xf32>, none, none, none) -> tensor<4x5x1x1x16xf32>
  %7 = "top.Squeeze"(%6) {axes = [3]} : (tensor<4x5x1x1x16xf32>) -> tensor<4x5x1x16xf32>
  %8 = "top.Abs"(%7) : (tensor<4x5x1x16xf32>) -> tensor<4x5x1x16xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 1, 2, 16], hasparamConvert_axes = [3], offset = [0, 0, 0, 1, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x1x3x16xf32>, none, none, none) -> tensor<4x5x1x1x16xf32>
  %10 = "top.Squeeze"(%9) {axes = [3]} : (tensor<4x5x1x1x16xf32>) -> tensor<4x5x1x16xf32>
  %11 = "top.Abs"(%10) : (tensor<4x5x1x16xf32>) -> tensor<4x5x1x16xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 1, 3, 16], hasparamConvert_axes = [3], offset = [0, 0, 0, 2, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x1x3x16xf32>, none, none, none) -> tensor<4x5x1x1x16xf32>
  %13 = "top.Squeeze"(%12) {axes = [3]} : (tensor<4x5x1x1x16xf32>) -> tensor<4x5x1x16xf32>
  %14 = "top.Abs"(%13) : (tensor<4x5x1x16xf32>) -> tensor<4x5x1x16xf32>
  return %8, %11, %14 : tensor<4x5x1x16xf32>, tensor<4x5x1x16xf32>, tensor<4x5x1x16xf32>
}

// CHECK-LABEL: func.func @split_a_one_in_front_of_the_columns
// CHECK: %3 = "top.MatMul"(%0, %1, %2){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %4 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %5 = "top.Weight"(){{.*}}-> tensor<1x1x16xf32>
// CHECK-NEXT: %6 = "top.MatMul"(%0, %4, %5){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %7 = "top.Weight"(){{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: %8 = "top.Weight"(){{.*}}-> tensor<1x1x16xf32>
// CHECK-NEXT: %9 = "top.MatMul"(%0, %7, %8){{.*}}do_relu = true{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %10 = "top.Reshape"(%3){{.*}}-> tensor<4x5x1x16xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x5x1x16xf32>
// CHECK-NEXT: %12 = "top.Reshape"(%6){{.*}}-> tensor<4x5x1x16xf32>
// CHECK-NEXT: %13 = "top.Abs"(%12){{.*}}-> tensor<4x5x1x16xf32>
// CHECK-NEXT: %14 = "top.Reshape"(%9){{.*}}-> tensor<4x5x1x16xf32>
// CHECK-NEXT: %15 = "top.Abs"(%14){{.*}}-> tensor<4x5x1x16xf32>
// CHECK-NEXT: return %11, %13, %15

// -----

// Refused: columns are not outermost.
func.func @whole_columns_are_not_outermost(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x3x8xf32>, tensor<4x5x3x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 3, 1, 8], hasparamConvert_axes = [3], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x3x1x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [3]} : (tensor<4x5x3x1x8xf32>) -> tensor<4x5x3x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x5x3x8xf32>) -> tensor<4x5x3x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [3], offset = [0, 0, 0, 1, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x3x1x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [3]} : (tensor<4x5x3x1x8xf32>) -> tensor<4x5x3x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x5x3x8xf32>) -> tensor<4x5x3x8xf32>
  return %8, %11 : tensor<4x5x3x8xf32>, tensor<4x5x3x8xf32>
}

// CHECK-LABEL: func.func @whole_columns_are_not_outermost
// CHECK: %4 = "top.MatMul"(%1, %2, %3){{.*}}do_relu = true{{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %6 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [3]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x3x1x8xf32>
// CHECK-NEXT: %7 = "top.Squeeze"(%6){{.*}}axes = [3]{{.*}}-> tensor<4x5x3x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x5x3x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [3]{{.*}}offset = [0, 0, 0, 1, 0]{{.*}}-> tensor<4x5x3x1x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [3]{{.*}}-> tensor<4x5x3x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x5x3x8xf32>
// CHECK-NEXT: return %8, %11

// -----

// Refused: rows are cut.
func.func @whole_rows_are_cut(%arg0: tensor<4x5x16xf32>) -> (tensor<1x5x3x2x8xf32>, tensor<3x5x3x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [1, 5, 3, 2, 8], hasparamConvert_axes = [0], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<1x5x3x2x8xf32>
  %7 = "top.Abs"(%6) : (tensor<1x5x3x2x8xf32>) -> tensor<1x5x3x2x8xf32>
  %8 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [0], offset = [1, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<3x5x3x2x8xf32>
  %9 = "top.Abs"(%8) : (tensor<3x5x3x2x8xf32>) -> tensor<3x5x3x2x8xf32>
  return %7, %9 : tensor<1x5x3x2x8xf32>, tensor<3x5x3x2x8xf32>
}

// CHECK-LABEL: func.func @whole_rows_are_cut
// CHECK: %4 = "top.MatMul"(%1, %2, %3){{.*}}do_relu = true{{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %6 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<1x5x3x2x8xf32>
// CHECK-NEXT: %7 = "top.Abs"(%6){{.*}}-> tensor<1x5x3x2x8xf32>
// CHECK-NEXT: %8 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [1, 0, 0, 0, 0]{{.*}}-> tensor<3x5x3x2x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<3x5x3x2x8xf32>
// CHECK-NEXT: return %7, %9

// -----

// Refused: rows are split, then cut.
func.func @whole_rows_are_split_then_cut(%arg0: tensor<8x16xf32>) -> (tensor<4x3x16xf32>, tensor<4x3x16xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<8x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<8x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 2, 3, 16]} : (tensor<8x48xf32>) -> tensor<4x2x3x16xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 1, 3, 16], hasparamConvert_axes = [1], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<4x2x3x16xf32>, none, none, none) -> tensor<4x1x3x16xf32>
  %7 = "top.Squeeze"(%6) {axes = [1]} : (tensor<4x1x3x16xf32>) -> tensor<4x3x16xf32>
  %8 = "top.Abs"(%7) : (tensor<4x3x16xf32>) -> tensor<4x3x16xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 2, 3, 16], hasparamConvert_axes = [1], offset = [0, 1, 0, 0], steps = [1, 1, 1, 1]} : (tensor<4x2x3x16xf32>, none, none, none) -> tensor<4x1x3x16xf32>
  %10 = "top.Squeeze"(%9) {axes = [1]} : (tensor<4x1x3x16xf32>) -> tensor<4x3x16xf32>
  %11 = "top.Abs"(%10) : (tensor<4x3x16xf32>) -> tensor<4x3x16xf32>
  return %8, %11 : tensor<4x3x16xf32>, tensor<4x3x16xf32>
}

// CHECK-LABEL: func.func @whole_rows_are_split_then_cut
// CHECK: %4 = "top.MatMul"(%1, %2, %3){{.*}}do_relu = true{{.*}}-> tensor<8x48xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<4x2x3x16xf32>
// CHECK-NEXT: %6 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<4x1x3x16xf32>
// CHECK-NEXT: %7 = "top.Squeeze"(%6){{.*}}axes = [1]{{.*}}-> tensor<4x3x16xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x3x16xf32>
// CHECK-NEXT: %9 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 1, 0, 0]{{.*}}-> tensor<4x1x3x16xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [1]{{.*}}-> tensor<4x3x16xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x3x16xf32>
// CHECK-NEXT: return %8, %11

// -----

// Refused: part of the cut dimension is rows.
func.func @whole_part_of_the_cut_dimension_is_rows(%arg0: tensor<8x16xf32>) -> (tensor<3x128xf32>, tensor<3x128xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x96xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x96xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<8x16xf32>, tensor<16x96xf32>, tensor<1x1x96xf32>) -> tensor<8x96xf32>
  %5 = "top.Reshape"(%4) {shape = [6, 128]} : (tensor<8x96xf32>) -> tensor<6x128xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [3, 128], hasparamConvert_axes = [0], offset = [0, 0], steps = [1, 1]} : (tensor<6x128xf32>, none, none, none) -> tensor<3x128xf32>
  %7 = "top.Abs"(%6) : (tensor<3x128xf32>) -> tensor<3x128xf32>
  %8 = "top.Slice"(%5, %0, %0, %0) {ends = [6, 128], hasparamConvert_axes = [0], offset = [3, 0], steps = [1, 1]} : (tensor<6x128xf32>, none, none, none) -> tensor<3x128xf32>
  %9 = "top.Abs"(%8) : (tensor<3x128xf32>) -> tensor<3x128xf32>
  return %7, %9 : tensor<3x128xf32>, tensor<3x128xf32>
}

// CHECK-LABEL: func.func @whole_part_of_the_cut_dimension_is_rows
// CHECK: %4 = "top.MatMul"(%1, %2, %3){{.*}}do_relu = true{{.*}}-> tensor<8x96xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<6x128xf32>
// CHECK-NEXT: %6 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [0, 0]{{.*}}-> tensor<3x128xf32>
// CHECK-NEXT: %7 = "top.Abs"(%6){{.*}}-> tensor<3x128xf32>
// CHECK-NEXT: %8 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [0]{{.*}}offset = [3, 0]{{.*}}-> tensor<3x128xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<3x128xf32>
// CHECK-NEXT: return %7, %9

// -----

// Refused: columns are left over.
func.func @whole_columns_are_left_over(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 1, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  return %8, %11 : tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>
}

// CHECK-LABEL: func.func @whole_columns_are_left_over
// CHECK: %4 = "top.MatMul"(%1, %2, %3){{.*}}do_relu = true{{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %6 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %7 = "top.Squeeze"(%6){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: return %8, %11

// -----

// Refused: first columns are left over.
func.func @whole_first_columns_are_left_over(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 2, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  return %8, %11 : tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>
}

// CHECK-LABEL: func.func @whole_first_columns_are_left_over
// CHECK: %4 = "top.MatMul"(%1, %2, %3){{.*}}do_relu = true{{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %6 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %7 = "top.Squeeze"(%6){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: return %8, %11

// -----

// Refused: parts overlap.
func.func @whole_parts_overlap(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x2x8xf32>, tensor<4x5x2x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x2x2x8xf32>
  %7 = "top.Abs"(%6) : (tensor<4x5x2x2x8xf32>) -> tensor<4x5x2x2x8xf32>
  %8 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x2x2x8xf32>
  %9 = "top.Abs"(%8) : (tensor<4x5x2x2x8xf32>) -> tensor<4x5x2x2x8xf32>
  return %7, %9 : tensor<4x5x2x2x8xf32>, tensor<4x5x2x2x8xf32>
}

// CHECK-LABEL: func.func @whole_parts_overlap
// CHECK: %4 = "top.MatMul"(%1, %2, %3){{.*}}do_relu = true{{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %6 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x2x2x8xf32>
// CHECK-NEXT: %7 = "top.Abs"(%6){{.*}}-> tensor<4x5x2x2x8xf32>
// CHECK-NEXT: %8 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x2x2x8xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x5x2x2x8xf32>
// CHECK-NEXT: return %7, %9

// -----

// Refused: steps of two.
func.func @whole_steps_of_two(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x12xf32>, tensor<4x5x2x12xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 4, 12]} : (tensor<4x5x48xf32>) -> tensor<4x5x4x12xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 4, 12], hasparamConvert_axes = [2], offset = [0, 0, 0, 0], steps = [1, 1, 2, 1]} : (tensor<4x5x4x12xf32>, none, none, none) -> tensor<4x5x2x12xf32>
  %7 = "top.Abs"(%6) : (tensor<4x5x2x12xf32>) -> tensor<4x5x2x12xf32>
  %8 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 4, 12], hasparamConvert_axes = [2], offset = [0, 0, 1, 0], steps = [1, 1, 2, 1]} : (tensor<4x5x4x12xf32>, none, none, none) -> tensor<4x5x2x12xf32>
  %9 = "top.Abs"(%8) : (tensor<4x5x2x12xf32>) -> tensor<4x5x2x12xf32>
  return %7, %9 : tensor<4x5x2x12xf32>, tensor<4x5x2x12xf32>
}

// CHECK-LABEL: func.func @whole_steps_of_two
// CHECK: %4 = "top.MatMul"(%1, %2, %3){{.*}}do_relu = true{{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<4x5x4x12xf32>
// CHECK-NEXT: %6 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<4x5x2x12xf32>
// CHECK-NEXT: %7 = "top.Abs"(%6){{.*}}-> tensor<4x5x2x12xf32>
// CHECK-NEXT: %8 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0]{{.*}}-> tensor<4x5x2x12xf32>
// CHECK-NEXT: %9 = "top.Abs"(%8){{.*}}-> tensor<4x5x2x12xf32>
// CHECK-NEXT: return %7, %9

// -----

// Refused: one part.
func.func @whole_one_part(%arg0: tensor<4x5x16xf32>) -> tensor<4x5x3x2x8xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x3x2x8xf32>
  %7 = "top.Abs"(%6) : (tensor<4x5x3x2x8xf32>) -> tensor<4x5x3x2x8xf32>
  return %7 : tensor<4x5x3x2x8xf32>
}

// CHECK-LABEL: func.func @whole_one_part
// CHECK: %4 = "top.MatMul"(%1, %2, %3){{.*}}do_relu = true{{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %6 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %7 = "top.Abs"(%6){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: return %7

// -----

// Refused: the whole is used.
func.func @whole_the_whole_is_used(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x3x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.Weight"() : () -> tensor<1x1x48xf32> loc("b")
  %4 = "top.MatMul"(%1, %2, %3) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<1x1x48xf32>) -> tensor<4x5x48xf32>
  %5 = "top.Reshape"(%4) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %6 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 1, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %7 = "top.Squeeze"(%6) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %8 = "top.Abs"(%7) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %9 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %10 = "top.Squeeze"(%9) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %11 = "top.Abs"(%10) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %12 = "top.Slice"(%5, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 2, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %13 = "top.Squeeze"(%12) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %14 = "top.Abs"(%13) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %15 = "top.Abs"(%5) : (tensor<4x5x3x2x8xf32>) -> tensor<4x5x3x2x8xf32>
  return %8, %11, %14, %15 : tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x3x2x8xf32>
}

// CHECK-LABEL: func.func @whole_the_whole_is_used
// CHECK: %4 = "top.MatMul"(%1, %2, %3){{.*}}do_relu = true{{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %6 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %7 = "top.Squeeze"(%6){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %8 = "top.Abs"(%7){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %9 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %10 = "top.Squeeze"(%9){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %11 = "top.Abs"(%10){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %12 = "top.Slice"(%5, %0, %0, %0){{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 2, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %13 = "top.Squeeze"(%12){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %14 = "top.Abs"(%13){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %15 = "top.Abs"(%5){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: return %8, %11, %14, %15

// -----

// Refused: the right side is computed.
func.func @whole_the_right_side_is_computed(%arg0: tensor<4x5x16xf32>, %arg1: tensor<16x48xf32>) -> (tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Input"(%arg1) : (tensor<16x48xf32>) -> tensor<16x48xf32>
  %3 = "top.MatMul"(%1, %2, %0) {do_relu = true} : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 1, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %6 = "top.Squeeze"(%5) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %7 = "top.Abs"(%6) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %8 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %9 = "top.Squeeze"(%8) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %10 = "top.Abs"(%9) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %11 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 2, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %12 = "top.Squeeze"(%11) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %13 = "top.Abs"(%12) : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  return %7, %10, %13 : tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>, tensor<4x5x2x8xf32>
}

// CHECK-LABEL: func.func @whole_the_right_side_is_computed
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}do_relu = true{{.*}}-> tensor<4x5x48xf32>
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

// Refused: the weight is used transposed, so its parts are rows.
func.func @whole_right_transposed(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x16xf32>, tensor<4x5x32xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<48x16xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) {right_transpose = true} : (tensor<4x5x16xf32>, tensor<48x16xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Slice"(%3, %0, %0, %0) {ends = [4, 5, 16], hasparamConvert_axes = [2], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<4x5x48xf32>, none, none, none) -> tensor<4x5x16xf32>
  %5 = "top.Slice"(%3, %0, %0, %0) {ends = [4, 5, 48], hasparamConvert_axes = [2], offset = [0, 0, 16], steps = [1, 1, 1]} : (tensor<4x5x48xf32>, none, none, none) -> tensor<4x5x32xf32>
  return %4, %5 : tensor<4x5x16xf32>, tensor<4x5x32xf32>
}

// CHECK-LABEL: func.func @whole_right_transposed
// CHECK: "top.MatMul"({{.*}}right_transpose = true{{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: "top.Slice"
// CHECK-NEXT: "top.Slice"

// -----

// Refused: the bias is computed.
func.func @whole_bias_is_computed(%arg0: tensor<4x5x16xf32>, %arg1: tensor<48xf32>) -> (tensor<4x5x16xf32>, tensor<4x5x32xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %b = "top.Input"(%arg1) : (tensor<48xf32>) -> tensor<48xf32>
  %3 = "top.MatMul"(%1, %2, %b) : (tensor<4x5x16xf32>, tensor<16x48xf32>, tensor<48xf32>) -> tensor<4x5x48xf32>
  %4 = "top.Slice"(%3, %0, %0, %0) {ends = [4, 5, 16], hasparamConvert_axes = [2], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<4x5x48xf32>, none, none, none) -> tensor<4x5x16xf32>
  %5 = "top.Slice"(%3, %0, %0, %0) {ends = [4, 5, 48], hasparamConvert_axes = [2], offset = [0, 0, 16], steps = [1, 1, 1]} : (tensor<4x5x48xf32>, none, none, none) -> tensor<4x5x32xf32>
  return %4, %5 : tensor<4x5x16xf32>, tensor<4x5x32xf32>
}

// CHECK-LABEL: func.func @whole_bias_is_computed
// CHECK: "top.MatMul"({{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: "top.Slice"
// CHECK-NEXT: "top.Slice"

// -----

// Refused: the parts are of different dimensions.
func.func @whole_cuts_of_two_dimensions(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x1x2x8xf32>, tensor<4x5x3x1x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %5 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 1, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x1x2x8xf32>
  %6 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [3], offset = [0, 0, 0, 1, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none) -> tensor<4x5x3x1x8xf32>
  return %5, %6 : tensor<4x5x1x2x8xf32>, tensor<4x5x3x1x8xf32>
}

// CHECK-LABEL: func.func @whole_cuts_of_two_dimensions
// CHECK: "top.MatMul"({{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: "top.Reshape"
// CHECK-NEXT: "top.Slice"
// CHECK-NEXT: "top.Slice"

// -----

// Refused: as many columns as there are, but some twice and some not at all.
func.func @whole_overlap_and_gap(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x32xf32>, tensor<4x5x16xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Slice"(%3, %0, %0, %0) {ends = [4, 5, 32], hasparamConvert_axes = [2], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<4x5x48xf32>, none, none, none) -> tensor<4x5x32xf32>
  %5 = "top.Slice"(%3, %0, %0, %0) {ends = [4, 5, 32], hasparamConvert_axes = [2], offset = [0, 0, 16], steps = [1, 1, 1]} : (tensor<4x5x48xf32>, none, none, none) -> tensor<4x5x16xf32>
  return %4, %5 : tensor<4x5x32xf32>, tensor<4x5x16xf32>
}

// CHECK-LABEL: func.func @whole_overlap_and_gap
// CHECK: "top.MatMul"({{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: "top.Slice"
// CHECK-NEXT: "top.Slice"

// -----

// Refused: the first part takes every other column, up to where the second begins.
func.func @whole_every_other_column(%arg0: tensor<4x5x16xf32>) -> (tensor<4x5x2x16xf32>, tensor<4x5x1x16xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  %2 = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %3 = "top.MatMul"(%1, %2, %0) : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<4x5x48xf32>
  %4 = "top.Reshape"(%3) {shape = [4, 5, 3, 16]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x16xf32>
  %5 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 3, 16], hasparamConvert_axes = [2], offset = [0, 0, 0, 0], steps = [1, 1, 2, 1]} : (tensor<4x5x3x16xf32>, none, none, none) -> tensor<4x5x2x16xf32>
  %6 = "top.Slice"(%4, %0, %0, %0) {ends = [4, 5, 3, 16], hasparamConvert_axes = [2], offset = [0, 0, 2, 0], steps = [1, 1, 1, 1]} : (tensor<4x5x3x16xf32>, none, none, none) -> tensor<4x5x1x16xf32>
  return %5, %6 : tensor<4x5x2x16xf32>, tensor<4x5x1x16xf32>
}

// CHECK-LABEL: func.func @whole_every_other_column
// CHECK: "top.MatMul"({{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: "top.Reshape"
// CHECK-NEXT: "top.Slice"
// CHECK-NEXT: "top.Slice"

// -----

// Refused: the product merges its rows.
func.func @whole_rows_merged(%arg_x: tensor<4x5x16xf32>) -> (tensor<20x16xf32>, tensor<20x32xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %r = "top.MatMul"(%x, %w, %n) {keep_dims = false} : (tensor<4x5x16xf32>, tensor<16x48xf32>, none) -> tensor<20x48xf32> loc("r")
  %a = "top.Slice"(%r, %n, %n, %n) {offset = [0, 0], ends = [20, 16], steps = [1, 1]} : (tensor<20x48xf32>, none, none, none) -> tensor<20x16xf32> loc("a")
  %b = "top.Slice"(%r, %n, %n, %n) {offset = [0, 16], ends = [20, 48], steps = [1, 1]} : (tensor<20x48xf32>, none, none, none) -> tensor<20x32xf32> loc("b")
  return %a, %b : tensor<20x16xf32>, tensor<20x32xf32>
}

// CHECK-LABEL: func.func @whole_rows_merged
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}keep_dims = false{{.*}}-> tensor<20x48xf32>
// CHECK-NEXT: %4 = "top.Slice"(%3, %0, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<20x16xf32>
// CHECK-NEXT: %5 = "top.Slice"(%3, %0, %0, %0){{.*}}offset = [0, 16]{{.*}}-> tensor<20x32xf32>
// CHECK-NEXT: return %4, %5

// -----

// Refused: where the second part begins is computed.
func.func @whole_cut_is_computed(%arg_x: tensor<20x16xf32>, %arg_o: tensor<2xf32>) -> (tensor<20x16xf32>, tensor<20x32xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<20x16xf32>) -> tensor<20x16xf32> loc("x")
  %o = "top.Input"(%arg_o) : (tensor<2xf32>) -> tensor<2xf32> loc("o")
  %w = "top.Weight"() : () -> tensor<16x48xf32> loc("w")
  %r = "top.MatMul"(%x, %w, %n) : (tensor<20x16xf32>, tensor<16x48xf32>, none) -> tensor<20x48xf32> loc("r")
  %a = "top.Slice"(%r, %n, %n, %n) {offset = [0, 0], ends = [20, 16], steps = [1, 1]} : (tensor<20x48xf32>, none, none, none) -> tensor<20x16xf32> loc("a")
  %b = "top.Slice"(%r, %o, %n, %n) {offset = [0, 16], ends = [20, 48], steps = [1, 1]} : (tensor<20x48xf32>, tensor<2xf32>, none, none) -> tensor<20x32xf32> loc("b")
  return %a, %b : tensor<20x16xf32>, tensor<20x32xf32>
}

// CHECK-LABEL: func.func @whole_cut_is_computed
// CHECK: %4 = "top.MatMul"(%1, %3, %0){{.*}}-> tensor<20x48xf32>
// CHECK-NEXT: %5 = "top.Slice"(%4, %0, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<20x16xf32>
// CHECK-NEXT: %6 = "top.Slice"(%4, %2, %0, %0){{.*}}offset = [0, 16]{{.*}}-> tensor<20x32xf32>
// CHECK-NEXT: return %5, %6

// -----

// Refused: the result is transposed, so that its columns are rows of the product.
func.func @whole_output_transposed(%arg_x: tensor<48x16xf32>) -> (tensor<20x16xf32>, tensor<20x32xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<48x16xf32>) -> tensor<48x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<16x20xf32> loc("w")
  %r = "top.MatMul"(%x, %w, %n) {output_transpose = true} : (tensor<48x16xf32>, tensor<16x20xf32>, none) -> tensor<20x48xf32> loc("r")
  %a = "top.Slice"(%r, %n, %n, %n) {offset = [0, 0], ends = [20, 16], steps = [1, 1]} : (tensor<20x48xf32>, none, none, none) -> tensor<20x16xf32> loc("a")
  %b = "top.Slice"(%r, %n, %n, %n) {offset = [0, 16], ends = [20, 48], steps = [1, 1]} : (tensor<20x48xf32>, none, none, none) -> tensor<20x32xf32> loc("b")
  return %a, %b : tensor<20x16xf32>, tensor<20x32xf32>
}

// CHECK-LABEL: func.func @whole_output_transposed
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}output_transpose = true{{.*}}-> tensor<20x48xf32>
// CHECK-NEXT: %4 = "top.Slice"(%3, %0, %0, %0){{.*}}offset = [0, 0]{{.*}}-> tensor<20x16xf32>
// CHECK-NEXT: %5 = "top.Slice"(%3, %0, %0, %0){{.*}}offset = [0, 16]{{.*}}-> tensor<20x32xf32>
// CHECK-NEXT: return %4, %5

// -----

// Refused: a weight of its own for each batch.
func.func @whole_batches_of_weights(%arg_x: tensor<4x5x16xf32>) -> (tensor<4x5x16xf32>, tensor<4x5x32xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x16x48xf32> loc("w")
  %r = "top.MatMul"(%x, %w, %n) : (tensor<4x5x16xf32>, tensor<4x16x48xf32>, none) -> tensor<4x5x48xf32> loc("r")
  %a = "top.Slice"(%r, %n, %n, %n) {offset = [0, 0, 0], ends = [4, 5, 16], steps = [1, 1, 1]} : (tensor<4x5x48xf32>, none, none, none) -> tensor<4x5x16xf32> loc("a")
  %b = "top.Slice"(%r, %n, %n, %n) {offset = [0, 0, 16], ends = [4, 5, 48], steps = [1, 1, 1]} : (tensor<4x5x48xf32>, none, none, none) -> tensor<4x5x32xf32> loc("b")
  return %a, %b : tensor<4x5x16xf32>, tensor<4x5x32xf32>
}

// CHECK-LABEL: func.func @whole_batches_of_weights
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<4x5x48xf32>
// CHECK-NEXT: %4 = "top.Slice"(%3, %0, %0, %0){{.*}}offset = [0, 0, 0]{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %5 = "top.Slice"(%3, %0, %0, %0){{.*}}offset = [0, 0, 16]{{.*}}-> tensor<4x5x32xf32>
// CHECK-NEXT: return %4, %5
