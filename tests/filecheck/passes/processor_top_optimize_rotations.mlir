// RUN: tpu-opt %s --split-input-file --processor-top-optimize --no-locations | filecheck %s

// ConcatToSwapDimInner, and TopMultiSwapDimMergeToOne behind it.

// Tail before head.
func.func @rotation(%arg0: tensor<1x6x4xf32>) -> tensor<1x6x4xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 4], hasparamConvert_axes = [1], offset = [0, 2, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x4x4xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 4], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x2x4xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x4x4xf32>, tensor<1x2x4xf32>) -> tensor<1x6x4xf32>
  return %4 : tensor<1x6x4xf32>
}

// CHECK-LABEL: func.func @rotation
// CHECK: %1 = "top.SwapDimInner"(%0){{.*}}offset = [0, 2, 0]{{.*}}-> tensor<1x6x4xf32>
// CHECK-NEXT: return %1

// -----

// Counted from the last dimension.
func.func @last_dimensions(%arg0: tensor<1x4x6xf32>) -> tensor<1x4x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 4, 6], hasparamConvert_axes = [2], offset = [0, 0, 2], steps = [1, 1, 1]} : (tensor<1x4x6xf32>, none, none, none) -> tensor<1x4x4xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 4, 2], hasparamConvert_axes = [2], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x4x6xf32>, none, none, none) -> tensor<1x4x2xf32>
  %4 = "top.Concat"(%2, %3) {axis = 2 : si32} : (tensor<1x4x4xf32>, tensor<1x4x2xf32>) -> tensor<1x4x6xf32>
  return %4 : tensor<1x4x6xf32>
}

// CHECK-LABEL: func.func @last_dimensions
// CHECK: %1 = "top.SwapDimInner"(%0){{.*}}offset = [0, 0, 2]{{.*}}-> tensor<1x4x6xf32>
// CHECK-NEXT: return %1

// -----

// Two rotations are one.
func.func @two_rotations(%arg0: tensor<1x6x6x3xf32>) -> tensor<1x6x6x3xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x6x3xf32>) -> tensor<1x6x6x3xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 6, 3], hasparamConvert_axes = [1], offset = [0, 2, 0, 0], steps = [1, 1, 1, 1]} : (tensor<1x6x6x3xf32>, none, none, none) -> tensor<1x4x6x3xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 6, 3], hasparamConvert_axes = [1], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<1x6x6x3xf32>, none, none, none) -> tensor<1x2x6x3xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x4x6x3xf32>, tensor<1x2x6x3xf32>) -> tensor<1x6x6x3xf32>
  %5 = "top.Slice"(%4, %0, %0, %0) {ends = [1, 6, 6, 3], hasparamConvert_axes = [2], offset = [0, 0, 2, 0], steps = [1, 1, 1, 1]} : (tensor<1x6x6x3xf32>, none, none, none) -> tensor<1x6x4x3xf32>
  %6 = "top.Slice"(%4, %0, %0, %0) {ends = [1, 6, 2, 3], hasparamConvert_axes = [2], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<1x6x6x3xf32>, none, none, none) -> tensor<1x6x2x3xf32>
  %7 = "top.Concat"(%5, %6) {axis = 2 : si32} : (tensor<1x6x4x3xf32>, tensor<1x6x2x3xf32>) -> tensor<1x6x6x3xf32>
  return %7 : tensor<1x6x6x3xf32>
}

// CHECK-LABEL: func.func @two_rotations
// CHECK: %1 = "top.SwapDimInner"(%0){{.*}}offset = [0, 2, 2, 0]{{.*}}-> tensor<1x6x6x3xf32>
// CHECK-NEXT: return %1

// -----

// Of three rotations two can be one.
func.func @three_rotations(%arg0: tensor<6x6x6x3xf32>) -> tensor<6x6x6x3xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<6x6x6x3xf32>) -> tensor<6x6x6x3xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [6, 6, 6, 3], hasparamConvert_axes = [0], offset = [2, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<6x6x6x3xf32>, none, none, none) -> tensor<4x6x6x3xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [2, 6, 6, 3], hasparamConvert_axes = [0], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<6x6x6x3xf32>, none, none, none) -> tensor<2x6x6x3xf32>
  %4 = "top.Concat"(%2, %3) {axis = 0 : si32} : (tensor<4x6x6x3xf32>, tensor<2x6x6x3xf32>) -> tensor<6x6x6x3xf32>
  %5 = "top.Slice"(%4, %0, %0, %0) {ends = [6, 6, 6, 3], hasparamConvert_axes = [1], offset = [0, 2, 0, 0], steps = [1, 1, 1, 1]} : (tensor<6x6x6x3xf32>, none, none, none) -> tensor<6x4x6x3xf32>
  %6 = "top.Slice"(%4, %0, %0, %0) {ends = [6, 2, 6, 3], hasparamConvert_axes = [1], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<6x6x6x3xf32>, none, none, none) -> tensor<6x2x6x3xf32>
  %7 = "top.Concat"(%5, %6) : (tensor<6x4x6x3xf32>, tensor<6x2x6x3xf32>) -> tensor<6x6x6x3xf32>
  %8 = "top.Slice"(%7, %0, %0, %0) {ends = [6, 6, 6, 3], hasparamConvert_axes = [2], offset = [0, 0, 2, 0], steps = [1, 1, 1, 1]} : (tensor<6x6x6x3xf32>, none, none, none) -> tensor<6x6x4x3xf32>
  %9 = "top.Slice"(%7, %0, %0, %0) {ends = [6, 6, 2, 3], hasparamConvert_axes = [2], offset = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<6x6x6x3xf32>, none, none, none) -> tensor<6x6x2x3xf32>
  %10 = "top.Concat"(%8, %9) {axis = 2 : si32} : (tensor<6x6x4x3xf32>, tensor<6x6x2x3xf32>) -> tensor<6x6x6x3xf32>
  return %10 : tensor<6x6x6x3xf32>
}

// CHECK-LABEL: func.func @three_rotations
// CHECK: %1 = "top.SwapDimInner"(%0){{.*}}offset = [2, 2, 0, 0]{{.*}}-> tensor<6x6x6x3xf32>
// CHECK-NEXT: %2 = "top.SwapDimInner"(%1){{.*}}offset = [0, 0, 2, 0]{{.*}}-> tensor<6x6x6x3xf32>
// CHECK-NEXT: return %2

// -----

// Refused: head first.
func.func @join_head_first(%arg0: tensor<1x6x4xf32>) -> tensor<1x6x4xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 4], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x2x4xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 4], hasparamConvert_axes = [1], offset = [0, 2, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x4x4xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x2x4xf32>, tensor<1x4x4xf32>) -> tensor<1x6x4xf32>
  return %4 : tensor<1x6x4xf32>
}

// CHECK-LABEL: func.func @join_head_first
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x2x4xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 2, 0]{{.*}}-> tensor<1x4x4xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}-> tensor<1x6x4xf32>
// CHECK-NEXT: return %4

// -----

// Refused: short head.
func.func @join_short_head(%arg0: tensor<1x6x4xf32>) -> tensor<1x5x4xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 4], hasparamConvert_axes = [1], offset = [0, 2, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x4x4xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 1, 4], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x1x4xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x4x4xf32>, tensor<1x1x4xf32>) -> tensor<1x5x4xf32>
  return %4 : tensor<1x5x4xf32>
}

// CHECK-LABEL: func.func @join_short_head
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 2, 0]{{.*}}-> tensor<1x4x4xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x1x4xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}-> tensor<1x5x4xf32>
// CHECK-NEXT: return %4

// -----

// Refused: short tail.
func.func @join_short_tail(%arg0: tensor<1x6x4xf32>) -> tensor<1x5x4xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 5, 4], hasparamConvert_axes = [1], offset = [0, 2, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x3x4xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 4], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x2x4xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x3x4xf32>, tensor<1x2x4xf32>) -> tensor<1x5x4xf32>
  return %4 : tensor<1x5x4xf32>
}

// CHECK-LABEL: func.func @join_short_tail
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 2, 0]{{.*}}-> tensor<1x3x4xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x2x4xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}-> tensor<1x5x4xf32>
// CHECK-NEXT: return %4

// -----

// Refused: a gap.
func.func @join_a_gap(%arg0: tensor<1x6x4xf32>) -> tensor<1x5x4xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 4], hasparamConvert_axes = [1], offset = [0, 3, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x3x4xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 4], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x2x4xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x3x4xf32>, tensor<1x2x4xf32>) -> tensor<1x5x4xf32>
  return %4 : tensor<1x5x4xf32>
}

// CHECK-LABEL: func.func @join_a_gap
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 3, 0]{{.*}}-> tensor<1x3x4xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x2x4xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}-> tensor<1x5x4xf32>
// CHECK-NEXT: return %4

// -----

// Refused: an overlap.
func.func @join_an_overlap(%arg0: tensor<1x6x4xf32>) -> tensor<1x7x4xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 4], hasparamConvert_axes = [1], offset = [0, 1, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x5x4xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 4], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x2x4xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x5x4xf32>, tensor<1x2x4xf32>) -> tensor<1x7x4xf32>
  return %4 : tensor<1x7x4xf32>
}

// CHECK-LABEL: func.func @join_an_overlap
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 1, 0]{{.*}}-> tensor<1x5x4xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x2x4xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}-> tensor<1x7x4xf32>
// CHECK-NEXT: return %4

// -----

// Refused: three parts.
func.func @join_three_parts(%arg0: tensor<1x6x4xf32>) -> tensor<1x6x4xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 4], hasparamConvert_axes = [1], offset = [0, 4, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x2x4xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 4, 4], hasparamConvert_axes = [1], offset = [0, 2, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x2x4xf32>
  %4 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 4], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x2x4xf32>
  %5 = "top.Concat"(%2, %3, %4) : (tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x6x4xf32>
  return %5 : tensor<1x6x4xf32>
}

// CHECK-LABEL: func.func @join_three_parts
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 4, 0]{{.*}}-> tensor<1x2x4xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 2, 0]{{.*}}-> tensor<1x2x4xf32>
// CHECK-NEXT: %4 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x2x4xf32>
// CHECK-NEXT: %5 = "top.Concat"(%2, %3, %4){{.*}}-> tensor<1x6x4xf32>
// CHECK-NEXT: return %5

// -----

// Refused: two sources.
func.func @join_two_sources(%arg0: tensor<1x6x6xf32>, %arg1: tensor<1x6x6xf32>) -> tensor<1x6x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  %2 = "top.Input"(%arg1) : (tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 6], hasparamConvert_axes = [1], offset = [0, 2, 0], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x4x6xf32>
  %4 = "top.Slice"(%2, %0, %0, %0) {ends = [1, 2, 6], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x2x6xf32>
  %5 = "top.Concat"(%3, %4) : (tensor<1x4x6xf32>, tensor<1x2x6xf32>) -> tensor<1x6x6xf32>
  return %5 : tensor<1x6x6xf32>
}

// CHECK-LABEL: func.func @join_two_sources
// CHECK: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 2, 0]{{.*}}-> tensor<1x4x6xf32>
// CHECK-NEXT: %4 = "top.Slice"(%2, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x2x6xf32>
// CHECK-NEXT: %5 = "top.Concat"(%3, %4){{.*}}-> tensor<1x6x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: steps of two.
func.func @join_steps_of_two(%arg0: tensor<1x6x6xf32>) -> tensor<1x4x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 6], hasparamConvert_axes = [1], offset = [0, 2, 0], steps = [1, 2, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x2x6xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 6], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x2x6xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x2x6xf32>, tensor<1x2x6xf32>) -> tensor<1x4x6xf32>
  return %4 : tensor<1x4x6xf32>
}

// CHECK-LABEL: func.func @join_steps_of_two
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 2, 0]{{.*}}-> tensor<1x2x6xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x2x6xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}-> tensor<1x4x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: a part is used.
func.func @join_a_part_is_used(%arg0: tensor<1x6x6xf32>) -> (tensor<1x6x6xf32>, tensor<1x2x6xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 6], hasparamConvert_axes = [1], offset = [0, 2, 0], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x4x6xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 6], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x2x6xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x4x6xf32>, tensor<1x2x6xf32>) -> tensor<1x6x6xf32>
  %5 = "top.Abs"(%3) : (tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
  return %4, %5 : tensor<1x6x6xf32>, tensor<1x2x6xf32>
}

// CHECK-LABEL: func.func @join_a_part_is_used
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 2, 0]{{.*}}-> tensor<1x4x6xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x2x6xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}-> tensor<1x6x6xf32>
// CHECK-NEXT: %5 = "top.Abs"(%3){{.*}}-> tensor<1x2x6xf32>
// CHECK-NEXT: return %4, %5

// -----

// Refused: a relu.
func.func @join_a_relu(%arg0: tensor<1x6x6xf32>) -> tensor<1x6x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 6], hasparamConvert_axes = [1], offset = [0, 2, 0], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x4x6xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 6], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x2x6xf32>
  %4 = "top.Concat"(%2, %3) {do_relu = true} : (tensor<1x4x6xf32>, tensor<1x2x6xf32>) -> tensor<1x6x6xf32>
  return %4 : tensor<1x6x6xf32>
}

// CHECK-LABEL: func.func @join_a_relu
// CHECK: %2 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 2, 0]{{.*}}-> tensor<1x4x6xf32>
// CHECK-NEXT: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x2x6xf32>
// CHECK-NEXT: %4 = "top.Concat"(%2, %3){{.*}}do_relu = true{{.*}}-> tensor<1x6x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: what comes first is no part of anything.
func.func @join_something_else(%arg0: tensor<1x6x6xf32>, %arg1: tensor<1x4x6xf32>) -> tensor<1x6x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  %2 = "top.Input"(%arg1) : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 6], hasparamConvert_axes = [1], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x2x6xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x4x6xf32>, tensor<1x2x6xf32>) -> tensor<1x6x6xf32>
  return %4 : tensor<1x6x6xf32>
}

// CHECK-LABEL: func.func @join_something_else
// CHECK-NOT: top.SwapDimInner
// CHECK: "top.Concat"

// -----

// Refused: rows and columns are cut, and joined along the rows.
func.func @join_other_columns(%arg0: tensor<1x6x12xf32>) -> tensor<1x12x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x12xf32>) -> tensor<1x6x12xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 12], hasparamConvert_axes = [2], offset = [0, 0, 6], steps = [1, 1, 1]} : (tensor<1x6x12xf32>, none, none, none) -> tensor<1x6x6xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 6], hasparamConvert_axes = [2], offset = [0, 0, 0], steps = [1, 1, 1]} : (tensor<1x6x12xf32>, none, none, none) -> tensor<1x6x6xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x6x6xf32>, tensor<1x6x6xf32>) -> tensor<1x12x6xf32>
  return %4 : tensor<1x12x6xf32>
}

// CHECK-LABEL: func.func @join_other_columns
// CHECK-NOT: top.SwapDimInner
// CHECK: "top.Concat"

// -----

// Refused: both parts are cut along the columns, too, and the second begins elsewhere.
func.func @join_shifted_columns(%arg0: tensor<1x6x6xf32>) -> tensor<1x6x5xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 5], hasparamConvert_axes = [1, 2], offset = [0, 2, 0], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x4x5xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 2, 6], hasparamConvert_axes = [1, 2], offset = [0, 0, 1], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x2x5xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x4x5xf32>, tensor<1x2x5xf32>) -> tensor<1x6x5xf32>
  return %4 : tensor<1x6x5xf32>
}

// CHECK-LABEL: func.func @join_shifted_columns
// CHECK-NOT: top.SwapDimInner
// CHECK: "top.Concat"

// -----

// Refused: as many rows as there were, but the second row comes twice and the first not at all.
func.func @join_a_row_twice(%arg0: tensor<1x6x6xf32>) -> tensor<1x6x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  %2 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 6, 6], hasparamConvert_axes = [1], offset = [0, 2, 0], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x4x6xf32>
  %3 = "top.Slice"(%1, %0, %0, %0) {ends = [1, 3, 6], hasparamConvert_axes = [1], offset = [0, 1, 0], steps = [1, 1, 1]} : (tensor<1x6x6xf32>, none, none, none) -> tensor<1x2x6xf32>
  %4 = "top.Concat"(%2, %3) : (tensor<1x4x6xf32>, tensor<1x2x6xf32>) -> tensor<1x6x6xf32>
  return %4 : tensor<1x6x6xf32>
}

// CHECK-LABEL: func.func @join_a_row_twice
// CHECK-NOT: top.SwapDimInner
// CHECK: "top.Concat"

// -----

// Refused: where the first part begins is computed.
func.func @join_computed_tail(%arg_x: tensor<1x6x4xf32>, %arg_o: tensor<3xf32>) -> tensor<1x6x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32> loc("x")
  %o = "top.Input"(%arg_o) : (tensor<3xf32>) -> tensor<3xf32> loc("o")
  %a = "top.Slice"(%x, %o, %n, %n) {offset = [0, 2, 0], ends = [1, 6, 4], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, tensor<3xf32>, none, none) -> tensor<1x4x4xf32> loc("a")
  %b = "top.Slice"(%x, %n, %n, %n) {offset = [0, 0, 0], ends = [1, 2, 4], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x2x4xf32> loc("b")
  %y = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<1x4x4xf32>, tensor<1x2x4xf32>) -> tensor<1x6x4xf32> loc("y")
  return %y : tensor<1x6x4xf32>
}

// CHECK-LABEL: func.func @join_computed_tail
// CHECK: %3 = "top.Slice"(%1, %2, %0, %0){{.*}}offset = [0, 2, 0]{{.*}}-> tensor<1x4x4xf32>
// CHECK-NEXT: %4 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x2x4xf32>
// CHECK-NEXT: %5 = "top.Concat"(%3, %4){{.*}}axis = 1{{.*}}-> tensor<1x6x4xf32>
// CHECK-NEXT: return %5

// -----

// Refused: where the second part begins is computed.
func.func @join_computed_head(%arg_x: tensor<1x6x4xf32>, %arg_o: tensor<3xf32>) -> tensor<1x6x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32> loc("x")
  %o = "top.Input"(%arg_o) : (tensor<3xf32>) -> tensor<3xf32> loc("o")
  %a = "top.Slice"(%x, %n, %n, %n) {offset = [0, 2, 0], ends = [1, 6, 4], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, none, none, none) -> tensor<1x4x4xf32> loc("a")
  %b = "top.Slice"(%x, %o, %n, %n) {offset = [0, 0, 0], ends = [1, 2, 4], steps = [1, 1, 1]} : (tensor<1x6x4xf32>, tensor<3xf32>, none, none) -> tensor<1x2x4xf32> loc("b")
  %y = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<1x4x4xf32>, tensor<1x2x4xf32>) -> tensor<1x6x4xf32> loc("y")
  return %y : tensor<1x6x4xf32>
}

// CHECK-LABEL: func.func @join_computed_head
// CHECK: %3 = "top.Slice"(%1, %0, %0, %0){{.*}}offset = [0, 2, 0]{{.*}}-> tensor<1x4x4xf32>
// CHECK-NEXT: %4 = "top.Slice"(%1, %2, %0, %0){{.*}}offset = [0, 0, 0]{{.*}}-> tensor<1x2x4xf32>
// CHECK-NEXT: %5 = "top.Concat"(%3, %4){{.*}}axis = 1{{.*}}-> tensor<1x6x4xf32>
// CHECK-NEXT: return %5
