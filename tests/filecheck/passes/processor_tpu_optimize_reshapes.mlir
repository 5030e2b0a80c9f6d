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

// -----

// Refused: dimensions are joined, not split.
func.func @part_of_merged(%arg_x: tensor<4x3x16xf32>) -> tensor<16xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x3x16xf32>) -> tensor<4x3x16xf32> loc("x")
  %r = "tpu.Reshape"(%x) {shape = [12, 16]} : (tensor<4x3x16xf32>) -> tensor<12x16xf32> loc("r")
  %s = "tpu.Slice"(%r, %n, %n, %n, %n) {offset = [1, 0], ends = [2, 16], steps = [1, 1]} : (tensor<12x16xf32>, none, none, none, none) -> tensor<1x16xf32> loc("s")
  %y = "tpu.Squeeze"(%s) {axes = [0]} : (tensor<1x16xf32>) -> tensor<16xf32> loc("y")
  return %y : tensor<16xf32>
}

// CHECK-LABEL: func.func @part_of_merged
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<12x16xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}offset = [1, 0]{{.*}}-> tensor<1x16xf32>
// CHECK-NEXT: %4 = "tpu.Squeeze"(%3){{.*}}-> tensor<16xf32>
// CHECK-NEXT: return %4

// -----

// Refused: the dimensions in front are split differently.
func.func @part_of_columns_behind(%arg_x: tensor<6x4x10xf32>) -> tensor<4x6x5xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<6x4x10xf32>) -> tensor<6x4x10xf32> loc("x")
  %r = "tpu.Reshape"(%x) {shape = [4, 6, 2, 5]} : (tensor<6x4x10xf32>) -> tensor<4x6x2x5xf32> loc("r")
  %s = "tpu.Slice"(%r, %n, %n, %n, %n) {offset = [0, 0, 1, 0], ends = [4, 6, 2, 5], steps = [1, 1, 1, 1]} : (tensor<4x6x2x5xf32>, none, none, none, none) -> tensor<4x6x1x5xf32> loc("s")
  %y = "tpu.Squeeze"(%s) {axes = [2]} : (tensor<4x6x1x5xf32>) -> tensor<4x6x5xf32> loc("y")
  return %y : tensor<4x6x5xf32>
}

// CHECK-LABEL: func.func @part_of_columns_behind
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<4x6x2x5xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}offset = [0, 0, 1, 0]{{.*}}-> tensor<4x6x1x5xf32>
// CHECK-NEXT: %4 = "tpu.Squeeze"(%3){{.*}}-> tensor<4x6x5xf32>
// CHECK-NEXT: return %4

// -----

// Refused: which part is computed.
func.func @part_is_computed(%arg_x: tensor<4x5x48xf32>, %arg_o: tensor<5xf32>) -> tensor<4x5x2x8xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32> loc("x")
  %o = "top.Input"(%arg_o) : (tensor<5xf32>) -> tensor<5xf32> loc("o")
  %r = "tpu.Reshape"(%x) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32> loc("r")
  %s = "tpu.Slice"(%r, %o, %n, %n, %n) {offset = [0, 0, 1, 0, 0], ends = [4, 5, 2, 2, 8], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, tensor<5xf32>, none, none, none) -> tensor<4x5x1x2x8xf32> loc("s")
  %y = "tpu.Squeeze"(%s) {axes = [2]} : (tensor<4x5x1x2x8xf32>) -> tensor<4x5x2x8xf32> loc("y")
  return %y : tensor<4x5x2x8xf32>
}

// CHECK-LABEL: func.func @part_is_computed
// CHECK: %3 = "tpu.Reshape"(%1){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %4 = "tpu.Slice"(%3, %2, %0, %0, %0){{.*}}offset = [0, 0, 1, 0, 0]{{.*}}-> tensor<4x5x1x2x8xf32>
// CHECK-NEXT: %5 = "tpu.Squeeze"(%4){{.*}}-> tensor<4x5x2x8xf32>
// CHECK-NEXT: return %5

// -----

// Refused: a part of the rows as well.
func.func @part_of_two_dimensions(%arg_x: tensor<4x5x48xf32>) -> tensor<4x3x2x8xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32> loc("x")
  %r = "tpu.Reshape"(%x) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32> loc("r")
  %s = "tpu.Slice"(%r, %n, %n, %n, %n) {offset = [0, 2, 1, 0, 0], ends = [4, 5, 2, 2, 8], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none, none) -> tensor<4x3x1x2x8xf32> loc("s")
  %y = "tpu.Squeeze"(%s) {axes = [2]} : (tensor<4x3x1x2x8xf32>) -> tensor<4x3x2x8xf32> loc("y")
  return %y : tensor<4x3x2x8xf32>
}

// CHECK-LABEL: func.func @part_of_two_dimensions
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}offset = [0, 2, 1, 0, 0]{{.*}}-> tensor<4x3x1x2x8xf32>
// CHECK-NEXT: %4 = "tpu.Squeeze"(%3){{.*}}-> tensor<4x3x2x8xf32>
// CHECK-NEXT: return %4

// -----

// Refused: the dimensions behind are split differently.
func.func @part_with_rows_changed_behind(%arg_x: tensor<12x4x6xf32>) -> tensor<4x6x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<12x4x6xf32>) -> tensor<12x4x6xf32> loc("x")
  %r = "tpu.Reshape"(%x) {shape = [3, 4, 6, 4]} : (tensor<12x4x6xf32>) -> tensor<3x4x6x4xf32> loc("r")
  %s = "tpu.Slice"(%r, %n, %n, %n, %n) {offset = [1, 0, 0, 0], ends = [2, 4, 6, 4], steps = [1, 1, 1, 1]} : (tensor<3x4x6x4xf32>, none, none, none, none) -> tensor<1x4x6x4xf32> loc("s")
  %y = "tpu.Squeeze"(%s) {axes = [0]} : (tensor<1x4x6x4xf32>) -> tensor<4x6x4xf32> loc("y")
  return %y : tensor<4x6x4xf32>
}

// CHECK-LABEL: func.func @part_with_rows_changed_behind
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<3x4x6x4xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}offset = [1, 0, 0, 0]{{.*}}-> tensor<1x4x6x4xf32>
// CHECK-NEXT: %4 = "tpu.Squeeze"(%3){{.*}}-> tensor<4x6x4xf32>
// CHECK-NEXT: return %4

// -----

// Refused: the product reads heads as they lie.
func.func @ones_of_heads(%arg_x: tensor<6x5x4xf32>, %arg_w: tensor<4x5x7xf32>) -> tensor<1x6x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<6x5x4xf32>) -> tensor<6x5x4xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<4x5x7xf32>) -> tensor<4x5x7xf32> loc("w")
  %a = "tpu.Reshape"(%x) {shape = [1, 6, 5, 4]} : (tensor<6x5x4xf32>) -> tensor<1x6x5x4xf32> loc("a")
  %b = "tpu.Reshape"(%w) {shape = [1, 4, 5, 7]} : (tensor<4x5x7xf32>) -> tensor<1x4x5x7xf32> loc("b")
  %y = "tpu.MatMul"(%a, %b, %n, %n, %n) {hdim_is_batch = true} : (tensor<1x6x5x4xf32>, tensor<1x4x5x7xf32>, none, none, none) -> tensor<1x6x5x7xf32> loc("y")
  return %y : tensor<1x6x5x7xf32>
}

// CHECK-LABEL: func.func @ones_of_heads
// CHECK: %3 = "tpu.Reshape"(%1){{.*}}-> tensor<1x6x5x4xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%2){{.*}}-> tensor<1x4x5x7xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%3, %4, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<1x6x5x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the product merges its rows.
func.func @ones_rows_merged(%arg_x: tensor<6x5x4xf32>, %arg_w: tensor<6x4x7xf32>) -> tensor<30x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<6x5x4xf32>) -> tensor<6x5x4xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<6x4x7xf32>) -> tensor<6x4x7xf32> loc("w")
  %a = "tpu.Reshape"(%x) {shape = [1, 6, 5, 4]} : (tensor<6x5x4xf32>) -> tensor<1x6x5x4xf32> loc("a")
  %b = "tpu.Reshape"(%w) {shape = [1, 6, 4, 7]} : (tensor<6x4x7xf32>) -> tensor<1x6x4x7xf32> loc("b")
  %y = "tpu.MatMul"(%a, %b, %n, %n, %n) {keep_dims = false} : (tensor<1x6x5x4xf32>, tensor<1x6x4x7xf32>, none, none, none) -> tensor<30x7xf32> loc("y")
  return %y : tensor<30x7xf32>
}

// CHECK-LABEL: func.func @ones_rows_merged
// CHECK: %3 = "tpu.Reshape"(%1){{.*}}-> tensor<1x6x5x4xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%2){{.*}}-> tensor<1x6x4x7xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%3, %4, %0, %0, %0){{.*}}keep_dims = false{{.*}}-> tensor<30x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the ones are where the other operand is repeated.
func.func @ones_repeat(%arg_x: tensor<6x5x4xf32>, %arg_w: tensor<6x4x7xf32>) -> tensor<6x6x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<6x5x4xf32>) -> tensor<6x5x4xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<6x4x7xf32>) -> tensor<6x4x7xf32> loc("w")
  %a = "tpu.Reshape"(%x) {shape = [1, 6, 5, 4]} : (tensor<6x5x4xf32>) -> tensor<1x6x5x4xf32> loc("a")
  %b = "tpu.Reshape"(%w) {shape = [6, 1, 4, 7]} : (tensor<6x4x7xf32>) -> tensor<6x1x4x7xf32> loc("b")
  %y = "tpu.MatMul"(%a, %b, %n, %n, %n) : (tensor<1x6x5x4xf32>, tensor<6x1x4x7xf32>, none, none, none) -> tensor<6x6x5x7xf32> loc("y")
  return %y : tensor<6x6x5x7xf32>
}

// CHECK-LABEL: func.func @ones_repeat
// CHECK: %3 = "tpu.Reshape"(%1){{.*}}-> tensor<1x6x5x4xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%2){{.*}}-> tensor<6x1x4x7xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%3, %4, %0, %0, %0){{.*}}-> tensor<6x6x5x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: before the Reshapes the operands have other batches.
func.func @ones_repeated_before(%arg_x: tensor<6x5x4xf32>, %arg_w: tensor<6x1x4x7xf32>) -> tensor<1x1x6x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<6x5x4xf32>) -> tensor<6x5x4xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<6x1x4x7xf32>) -> tensor<6x1x4x7xf32> loc("w")
  %a = "tpu.Reshape"(%x) {shape = [1, 1, 6, 5, 4]} : (tensor<6x5x4xf32>) -> tensor<1x1x6x5x4xf32> loc("a")
  %b = "tpu.Reshape"(%w) {shape = [1, 1, 6, 4, 7]} : (tensor<6x1x4x7xf32>) -> tensor<1x1x6x4x7xf32> loc("b")
  %y = "tpu.MatMul"(%a, %b, %n, %n, %n) : (tensor<1x1x6x5x4xf32>, tensor<1x1x6x4x7xf32>, none, none, none) -> tensor<1x1x6x5x7xf32> loc("y")
  return %y : tensor<1x1x6x5x7xf32>
}

// CHECK-LABEL: func.func @ones_repeated_before
// CHECK: %3 = "tpu.Reshape"(%1){{.*}}-> tensor<1x1x6x5x4xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%2){{.*}}-> tensor<1x1x6x4x7xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%3, %4, %0, %0, %0){{.*}}-> tensor<1x1x6x5x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: a one goes, and what is cut was a dimension before.
func.func @part_of_a_dimension_behind_one(%arg_x: tensor<4x1x3x16xf32>) -> tensor<4x16xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x1x3x16xf32>) -> tensor<4x1x3x16xf32> loc("x")
  %r = "tpu.Reshape"(%x) {shape = [4, 3, 16]} : (tensor<4x1x3x16xf32>) -> tensor<4x3x16xf32> loc("r")
  %s = "tpu.Slice"(%r, %n, %n, %n, %n) {offset = [0, 1, 0], ends = [4, 2, 16], steps = [1, 1, 1]} : (tensor<4x3x16xf32>, none, none, none, none) -> tensor<4x1x16xf32> loc("s")
  %y = "tpu.Squeeze"(%s) {axes = [1]} : (tensor<4x1x16xf32>) -> tensor<4x16xf32> loc("y")
  return %y : tensor<4x16xf32>
}

// CHECK-LABEL: func.func @part_of_a_dimension_behind_one
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<4x3x16xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}offset = [0, 1, 0]{{.*}}-> tensor<4x1x16xf32>
// CHECK-NEXT: %4 = "tpu.Squeeze"(%3){{.*}}-> tensor<4x16xf32>
// CHECK-NEXT: return %4

// -----

// Refused: a part of the columns inside as well.
func.func @part_of_inner_columns(%arg_x: tensor<4x5x48xf32>) -> tensor<4x5x2x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32> loc("x")
  %r = "tpu.Reshape"(%x) {shape = [4, 5, 3, 2, 8]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x2x8xf32> loc("r")
  %s = "tpu.Slice"(%r, %n, %n, %n, %n) {offset = [0, 0, 1, 0, 2], ends = [4, 5, 2, 2, 8], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x2x8xf32>, none, none, none, none) -> tensor<4x5x1x2x6xf32> loc("s")
  %y = "tpu.Squeeze"(%s) {axes = [2]} : (tensor<4x5x1x2x6xf32>) -> tensor<4x5x2x6xf32> loc("y")
  return %y : tensor<4x5x2x6xf32>
}

// CHECK-LABEL: func.func @part_of_inner_columns
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<4x5x3x2x8xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}offset = [0, 0, 1, 0, 2]{{.*}}-> tensor<4x5x1x2x6xf32>
// CHECK-NEXT: %4 = "tpu.Squeeze"(%3){{.*}}-> tensor<4x5x2x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: the Slice takes two of three, the Squeeze takes another dimension.
func.func @part_of_two_and_a_one(%arg_x: tensor<4x5x48xf32>) -> tensor<4x5x2x16xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x5x48xf32>) -> tensor<4x5x48xf32> loc("x")
  %r = "tpu.Reshape"(%x) {shape = [4, 5, 3, 1, 16]} : (tensor<4x5x48xf32>) -> tensor<4x5x3x1x16xf32> loc("r")
  %s = "tpu.Slice"(%r, %n, %n, %n, %n) {offset = [0, 0, 0, 0, 0], ends = [4, 5, 2, 1, 16], steps = [1, 1, 1, 1, 1]} : (tensor<4x5x3x1x16xf32>, none, none, none, none) -> tensor<4x5x2x1x16xf32> loc("s")
  %y = "tpu.Squeeze"(%s) {axes = [3]} : (tensor<4x5x2x1x16xf32>) -> tensor<4x5x2x16xf32> loc("y")
  return %y : tensor<4x5x2x16xf32>
}

// CHECK-LABEL: func.func @part_of_two_and_a_one
// CHECK: %2 = "tpu.Reshape"(%1){{.*}}-> tensor<4x5x3x1x16xf32>
// CHECK-NEXT: %3 = "tpu.Slice"(%2, %0, %0, %0, %0){{.*}}offset = [0, 0, 0, 0, 0]{{.*}}-> tensor<4x5x2x1x16xf32>
// CHECK-NEXT: %4 = "tpu.Squeeze"(%3){{.*}}-> tensor<4x5x2x16xf32>
// CHECK-NEXT: return %4

// -----

// Refused likewise: as many rows as there are columns, so that batches seem the same.
func.func @ones_of_heads_of_equal_sizes(%arg_x: tensor<4x5x4xf32>, %arg_w: tensor<4x5x7xf32>) -> tensor<1x4x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x5x4xf32>) -> tensor<4x5x4xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<4x5x7xf32>) -> tensor<4x5x7xf32> loc("w")
  %a = "tpu.Reshape"(%x) {shape = [1, 4, 5, 4]} : (tensor<4x5x4xf32>) -> tensor<1x4x5x4xf32> loc("a")
  %b = "tpu.Reshape"(%w) {shape = [1, 4, 5, 7]} : (tensor<4x5x7xf32>) -> tensor<1x4x5x7xf32> loc("b")
  %y = "tpu.MatMul"(%a, %b, %n, %n, %n) {hdim_is_batch = true} : (tensor<1x4x5x4xf32>, tensor<1x4x5x7xf32>, none, none, none) -> tensor<1x4x5x7xf32> loc("y")
  return %y : tensor<1x4x5x7xf32>
}

// CHECK-LABEL: func.func @ones_of_heads_of_equal_sizes
// CHECK: %3 = "tpu.Reshape"(%1){{.*}}-> tensor<1x4x5x4xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%2){{.*}}-> tensor<1x4x5x7xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%3, %4, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<1x4x5x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: ones change places, none is put in.
func.func @ones_move(%arg_x: tensor<1x6x5x4xf32>, %arg_w: tensor<1x6x4x7xf32>) -> tensor<6x1x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x6x5x4xf32>) -> tensor<1x6x5x4xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x6x4x7xf32>) -> tensor<1x6x4x7xf32> loc("w")
  %a = "tpu.Reshape"(%x) {shape = [6, 1, 5, 4]} : (tensor<1x6x5x4xf32>) -> tensor<6x1x5x4xf32> loc("a")
  %b = "tpu.Reshape"(%w) {shape = [6, 1, 4, 7]} : (tensor<1x6x4x7xf32>) -> tensor<6x1x4x7xf32> loc("b")
  %y = "tpu.MatMul"(%a, %b, %n, %n, %n) : (tensor<6x1x5x4xf32>, tensor<6x1x4x7xf32>, none, none, none) -> tensor<6x1x5x7xf32> loc("y")
  return %y : tensor<6x1x5x7xf32>
}

// CHECK-LABEL: func.func @ones_move
// CHECK: %3 = "tpu.Reshape"(%1){{.*}}-> tensor<6x1x5x4xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%2){{.*}}-> tensor<6x1x4x7xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%3, %4, %0, %0, %0){{.*}}-> tensor<6x1x5x7xf32>
// CHECK-NEXT: return %5
