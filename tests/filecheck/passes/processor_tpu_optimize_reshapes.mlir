// RUN: tpu-opt %s --split-input-file --processor-tpu-optimize --no-locations | filecheck %s

// ReshapeSliceSqueezePattern, MatMulRemoveReshapePattern.

// One index of the outermost part.
func.func @part(%arg0: tensor<4x5x48xf32>) -> tensor<4x5x2x8xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32>
  %2 = "tpu.Reshape"(%1) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %3 = "tpu.Slice"(%2, %0, %0, %0, %0) {axes = [], ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none, none) -> tensor<4x5x1x2x8xf32>
  %4 = "tpu.Squeeze"(%3) {axes = [2], is_scalar = false} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %5 = "tpu.MinConst"(%4) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  return %5 : tensor<4x5x2x8xf32>
}

// CHECK-LABEL: func.func @part
// CHECK: %2 = "tpu.Slice"(%1, %0, %0, %0, %0){{.*}}offset = [0, 0, 16]{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %3 = "tpu.Reshape"(%2){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %4 = "tpu.MinConst"(%3){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: return %4

// -----

// The part needs no reshape.
func.func @part_plain(%arg0: tensor<4x5x48xf32>) -> tensor<4x5x16xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32>
  %2 = "tpu.Reshape"(%1) {shape = [4, 5, 3, 16]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x16xf32>
  %3 = "tpu.Slice"(%2, %0, %0, %0, %0) {axes = [], ends = [4, 5, 2, 16], hasparamConvert_axes = [2], offset = [0, 0, 1, 0], steps = [1, 1, 1, 1]} : (tensor<4x5x3x16xf32>, none, none, none, none) -> tensor<4x5x1x16xf32>
  %4 = "tpu.Squeeze"(%3) {axes = [2], is_scalar = false} : (tensor<4x5x1x16xf32>) -> tensor<4x5x16xf32>
  %5 = "tpu.MinConst"(%4) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<4x5x16xf32>) -> tensor<4x5x16xf32>
  return %5 : tensor<4x5x16xf32>
}

// CHECK-LABEL: func.func @part_plain
// CHECK: %2 = "tpu.Slice"(%1, %0, %0, %0, %0){{.*}}offset = [0, 0, 16]{{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: %3 = "tpu.MinConst"(%2){{.*}}-> tensor<4x5x16xf32>
// CHECK-NEXT: return %3

// -----

// The first dimension is split.
func.func @part_first(%arg0: tensor<4x5x48xf32>) -> tensor<2x5x48xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32>
  %2 = "tpu.Reshape"(%1) {shape = [2, 2, 5, 48]} : (tensor<4x5x48xf32>) -> tensor<2x2x5x48xf32>
  %3 = "tpu.Slice"(%2, %0, %0, %0, %0) {axes = [], ends = [2, 2, 5, 48], hasparamConvert_axes = [0], offset = [1, 0, 0, 0], steps = [1, 1, 1, 1]} : (tensor<2x2x5x48xf32>, none, none, none, none) -> tensor<1x2x5x48xf32>
  %4 = "tpu.Squeeze"(%3) {axes = [0], is_scalar = false} : (tensor<1x2x5x48xf32>) -> tensor<2x5x48xf32>
  %5 = "tpu.MinConst"(%4) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x48xf32>) -> tensor<2x5x48xf32>
  return %5 : tensor<2x5x48xf32>
}

// CHECK-LABEL: func.func @part_first
// CHECK: %2 = "tpu.Slice"(%1, %0, %0, %0, %0){{.*}}offset = [2, 0, 0]{{.*}}-> tensor<2x5x48xf32>
// CHECK-NEXT: %3 = "tpu.MinConst"(%2){{.*}}-> tensor<2x5x48xf32>
// CHECK-NEXT: return %3

// -----

// Refused: an inner part.
func.func @part_inner(%arg0: tensor<4x5x48xf32>) -> tensor<4x5x3x8xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32>
  %2 = "tpu.Reshape"(%1) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %3 = "tpu.Slice"(%2, %0, %0, %0, %0) {axes = [], ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [3], offset = [0, 0, 0, 1, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none, none) -> tensor<4x5x3x1x8xf32>
  %4 = "tpu.Squeeze"(%3) {axes = [3], is_scalar = false} : (tensor<4x5x3x1x8xf32>) -> tensor<4x5x3x8xf32>
  %5 = "tpu.MinConst"(%4) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<4x5x3x8xf32>) -> tensor<4x5x3x8xf32>
  return %5 : tensor<4x5x3x8xf32>
}

// CHECK-LABEL: func.func @part_inner
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}axes = []{{.*}}hasparamConvert_axes = [3]{{.*}}offset = [0, 0, 0, 1, 0]{{.*}}-> tensor<4x5x3x1x8xf32>
// CHECK-NEXT: %4 = "tpu.Squeeze"(%3){{.*}}axes = [3]{{.*}}-> tensor<4x5x3x8xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<4x5x3x8xf32>
// CHECK-NEXT: return %5

// -----

// Refused: other dimensions are merged.
func.func @part_merged(%arg0: tensor<4x5x48xf32>) -> tensor<20x16xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32>
  %2 = "tpu.Reshape"(%1) {shape = [20, 3, 16]} : (tensor<4x5x48xf32>) -> tensor<20x3x16xf32>
  %3 = "tpu.Slice"(%2, %0, %0, %0, %0) {axes = [], ends = [20, 2, 16], hasparamConvert_axes = [1], offset = [0, 1, 0], steps = [1, 1, 1]} : (tensor<20x3x16xf32>, none, none, none, none) -> tensor<20x1x16xf32>
  %4 = "tpu.Squeeze"(%3) {axes = [1], is_scalar = false} : (tensor<20x1x16xf32>) -> tensor<20x16xf32>
  %5 = "tpu.MinConst"(%4) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<20x16xf32>) -> tensor<20x16xf32>
  return %5 : tensor<20x16xf32>
}

// CHECK-LABEL: func.func @part_merged
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<20x3x16xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}axes = []{{.*}}hasparamConvert_axes = [1]{{.*}}offset = [0, 1, 0]{{.*}}-> tensor<20x1x16xf32>
// CHECK-NEXT: %4 = "tpu.Squeeze"(%3){{.*}}axes = [1]{{.*}}-> tensor<20x16xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<20x16xf32>
// CHECK-NEXT: return %5

// -----

// Refused: two indices.
func.func @part_two(%arg0: tensor<4x5x48xf32>) -> tensor<4x5x2x2x8xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32>
  %2 = "tpu.Reshape"(%1) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %3 = "tpu.Slice"(%2, %0, %0, %0, %0) {axes = [], ends = [4, 5, 3, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none, none) -> tensor<4x5x2x2x8xf32>
  %4 = "tpu.MinConst"(%3) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<4x5x2x2x8xf32>) -> tensor<4x5x2x2x8xf32>
  return %4 : tensor<4x5x2x2x8xf32>
}

// CHECK-LABEL: func.func @part_two
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}axes = []{{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x2x2x8xf32>
// CHECK-NEXT: %4 = "tpu.MinConst"(%3){{.*}}-> tensor<4x5x2x2x8xf32>
// CHECK-NEXT: return %4

// -----

// Refused: the part is used.
func.func @part_used(%arg0: tensor<4x5x48xf32>) -> (tensor<4x5x2x8xf32>, tensor<4x5x1x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32>
  %2 = "tpu.Reshape"(%1) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32>
  %3 = "tpu.Slice"(%2, %0, %0, %0, %0) {axes = [], ends = [4, 5, 2, 2, 8], hasparamConvert_axes = [2], offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none, none) -> tensor<4x5x1x2x8xf32>
  %4 = "tpu.Squeeze"(%3) {axes = [2], is_scalar = false} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32>
  %5 = "tpu.MinConst"(%4) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<4x5x2x8xf32>) -> tensor<4x5x2x8xf32>
  %6 = "tpu.Active"(%3) {mode = #tpu<active_mode SIN>} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x1x2x8xf32>
  return %5, %6 : tensor<4x5x2x8xf32>, tensor<4x5x1x2x8xf32>
}

// CHECK-LABEL: func.func @part_used
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}axes = []{{.*}}hasparamConvert_axes = [2]{{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %4 = "tpu.Squeeze"(%3){{.*}}axes = [2]{{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: %6 = "tpu.Active"(%3){{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: return %5, %6

// -----

// Ones in front.
func.func @ones_front(%arg0: tensor<6x5x4xf32>, %arg1: tensor<6x4x7xf32>) -> tensor<1x6x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<6x5x4xf32>) -> tensor<6x5x4xf32>
  %2 = "tpu.Reshape"(%1) {shape = [1, 6, 5, 4]} : (tensor<6x5x4xf32>) -> tensor<1x6x5x4xf32>
  %3 = "top.Input"(%arg1) : (tensor<6x4x7xf32>) -> tensor<6x4x7xf32>
  %4 = "tpu.Reshape"(%3) {shape = [1, 6, 4, 7]} : (tensor<6x4x7xf32>) -> tensor<1x6x4x7xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<1x6x5x4xf32>, tensor<1x6x4x7xf32>, none, none, none) -> tensor<1x6x5x7xf32>
  %6 = "tpu.MinConst"(%5) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32>
  return %6 : tensor<1x6x5x7xf32>
}

// CHECK-LABEL: func.func @ones_front
// CHECK: %3 = "tpu.MatMul"(%1, %2, %0, %0, %0){{.*}}-> tensor<6x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<1x6x5x7xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<1x6x5x7xf32>
// CHECK-NEXT: return %5

// -----

// Ones among the batches.
func.func @ones_among(%arg0: tensor<6x5x4xf32>, %arg1: tensor<6x4x7xf32>) -> tensor<6x1x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<6x5x4xf32>) -> tensor<6x5x4xf32>
  %2 = "tpu.Reshape"(%1) {shape = [6, 1, 5, 4]} : (tensor<6x5x4xf32>) -> tensor<6x1x5x4xf32>
  %3 = "top.Input"(%arg1) : (tensor<6x4x7xf32>) -> tensor<6x4x7xf32>
  %4 = "tpu.Reshape"(%3) {shape = [6, 1, 4, 7]} : (tensor<6x4x7xf32>) -> tensor<6x1x4x7xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<6x1x5x4xf32>, tensor<6x1x4x7xf32>, none, none, none) -> tensor<6x1x5x7xf32>
  %6 = "tpu.MinConst"(%5) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<6x1x5x7xf32>) -> tensor<6x1x5x7xf32>
  return %6 : tensor<6x1x5x7xf32>
}

// CHECK-LABEL: func.func @ones_among
// CHECK: %3 = "tpu.MatMul"(%1, %2, %0, %0, %0){{.*}}-> tensor<6x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<6x1x5x7xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<6x1x5x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: batches are split.
func.func @ones_split(%arg0: tensor<6x5x4xf32>, %arg1: tensor<6x4x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<6x5x4xf32>) -> tensor<6x5x4xf32>
  %2 = "tpu.Reshape"(%1) {shape = [2, 3, 5, 4]} : (tensor<6x5x4xf32>) -> tensor<2x3x5x4xf32>
  %3 = "top.Input"(%arg1) : (tensor<6x4x7xf32>) -> tensor<6x4x7xf32>
  %4 = "tpu.Reshape"(%3) {shape = [2, 3, 4, 7]} : (tensor<6x4x7xf32>) -> tensor<2x3x4x7xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>, none, none, none) -> tensor<2x3x5x7xf32>
  %6 = "tpu.MinConst"(%5) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %6 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @ones_split
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<2x3x5x4xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<6x4x7xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<2x3x4x7xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %6

// -----

// Refused: the right operand is another matrix.
func.func @ones_other(%arg0: tensor<6x5x4xf32>, %arg1: tensor<4x42xf32>) -> tensor<1x6x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<6x5x4xf32>) -> tensor<6x5x4xf32>
  %2 = "tpu.Reshape"(%1) {shape = [1, 6, 5, 4]} : (tensor<6x5x4xf32>) -> tensor<1x6x5x4xf32>
  %3 = "top.Input"(%arg1) : (tensor<4x42xf32>) -> tensor<4x42xf32>
  %4 = "tpu.Reshape"(%3) {shape = [1, 6, 4, 7]} : (tensor<4x42xf32>) -> tensor<1x6x4x7xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<1x6x5x4xf32>, tensor<1x6x4x7xf32>, none, none, none) -> tensor<1x6x5x7xf32>
  %6 = "tpu.MinConst"(%5) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32>
  return %6 : tensor<1x6x5x7xf32>
}

// CHECK-LABEL: func.func @ones_other
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<1x6x5x4xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<4x42xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<1x6x4x7xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}-> tensor<1x6x5x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<1x6x5x7xf32>
// CHECK-NEXT: return %6

// -----

// Refused: rows and columns change.
func.func @ones_rows(%arg0: tensor<6x5x4xf32>, %arg1: tensor<6x5x7xf32>) -> tensor<1x6x4x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<6x5x4xf32>) -> tensor<6x5x4xf32>
  %2 = "tpu.Reshape"(%1) {shape = [1, 6, 4, 5]} : (tensor<6x5x4xf32>) -> tensor<1x6x4x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  %4 = "tpu.Reshape"(%3) {shape = [1, 6, 5, 7]} : (tensor<6x5x7xf32>) -> tensor<1x6x5x7xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<1x6x4x5xf32>, tensor<1x6x5x7xf32>, none, none, none) -> tensor<1x6x4x7xf32>
  %6 = "tpu.MinConst"(%5) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<1x6x4x7xf32>) -> tensor<1x6x4x7xf32>
  return %6 : tensor<1x6x4x7xf32>
}

// CHECK-LABEL: func.func @ones_rows
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<1x6x4x5xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<6x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<1x6x5x7xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}-> tensor<1x6x4x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<1x6x4x7xf32>
// CHECK-NEXT: return %6

// -----

// Refused: no batches.
func.func @ones_matrix(%arg0: tensor<5x4xf32>, %arg1: tensor<4x7xf32>) -> tensor<1x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %2 = "tpu.Reshape"(%1) {shape = [1, 5, 4]} : (tensor<5x4xf32>) -> tensor<1x5x4xf32>
  %3 = "top.Input"(%arg1) : (tensor<4x7xf32>) -> tensor<4x7xf32>
  %4 = "tpu.Reshape"(%3) {shape = [1, 4, 7]} : (tensor<4x7xf32>) -> tensor<1x4x7xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<1x5x4xf32>, tensor<1x4x7xf32>, none, none, none) -> tensor<1x5x7xf32>
  %6 = "tpu.MinConst"(%5) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<1x5x7xf32>) -> tensor<1x5x7xf32>
  return %6 : tensor<1x5x7xf32>
}

// CHECK-LABEL: func.func @ones_matrix
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<1x5x4xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<4x7xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<1x4x7xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}-> tensor<1x5x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<1x5x7xf32>
// CHECK-NEXT: return %6
