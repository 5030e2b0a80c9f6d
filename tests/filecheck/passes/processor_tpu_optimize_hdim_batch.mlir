// RUN: tpu-opt %s --split-input-file --processor-tpu-optimize --no-locations | filecheck %s

// MatMulHdimBatchPattern: a product reads rows and heads as they lie.

// Right transposed by its flag.
func.func @right_transposed_by_its_flag(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x6x3x5xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x6x3x5xf32>) -> tensor<2x6x3x5xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x6x3x5xf32>, none) -> tensor<2x3x6x5xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) {right_transpose = true} : (tensor<2x3x7x5xf32>, tensor<2x3x6x5xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %5 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @right_transposed_by_its_flag
// CHECK: %3 = "tpu.MatMul"(%1, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}right_transpose = true{{.*}}-> tensor<2x7x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %4

// -----

// Right transposed by its order.
func.func @right_transposed_by_its_order(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x6x3x5xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x6x3x5xf32>) -> tensor<2x6x3x5xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 3, 1]} : (tensor<2x6x3x5xf32>, none) -> tensor<2x3x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %5 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @right_transposed_by_its_order
// CHECK: %3 = "tpu.MatMul"(%1, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}right_transpose = true{{.*}}-> tensor<2x7x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %4

// -----

// Right as it is.
func.func @right_as_it_is(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x5x3x6xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %5 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @right_as_it_is
// CHECK: %3 = "tpu.MatMul"(%1, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<2x7x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %4

// -----

// Right transposed twice.
func.func @right_transposed_twice(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x5x3x6xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 3, 1]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x6x5xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) {right_transpose = true} : (tensor<2x3x7x5xf32>, tensor<2x3x6x5xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %5 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @right_transposed_twice
// CHECK: %3 = "tpu.MatMul"(%1, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<2x7x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %4

// -----

// Both transposed.
func.func @both_transposed(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x6x3x5xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 3, 1]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x6x3x5xf32>) -> tensor<2x6x3x5xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 3, 1]} : (tensor<2x6x3x5xf32>, none) -> tensor<2x3x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %5 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @both_transposed
// CHECK: %3 = "tpu.MatMul"(%1, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}left_transpose = true{{.*}}right_transpose = true{{.*}}-> tensor<2x7x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %4

// -----

// The left operand is not turned alone.
func.func @left_alone(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x5x3x6xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 3, 1]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %5 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @left_alone
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<2x7x3x5xf32>
// CHECK-NEXT: %4 = "tpu.MatMul"(%3, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<2x7x3x6xf32>
// CHECK-NEXT: %5 = "tpu.Permute"(%4, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %5

// -----

// A weight on the right is permuted.
func.func @weight_right(%arg0: tensor<2x7x3x5xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Weight"() : () -> tensor<2x3x5x6xf32> loc("v1")
  %4 = "tpu.MatMul"(%2, %3, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %4 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @weight_right
// CHECK: %3 = "tpu.MatMul"(%1, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<2x7x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %4

// -----

// A weight on the left is permuted.
func.func @weight_left(%arg0: tensor<2x5x3x6xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Weight"() : () -> tensor<2x3x7x5xf32> loc("v0")
  %2 = "top.Input"(%arg0) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32>
  %3 = "tpu.Permute"(%2, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x5x6xf32>
  %4 = "tpu.MatMul"(%1, %3, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %4 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @weight_left
// CHECK: %3 = "tpu.MatMul"(%1, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<2x7x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %4

// -----

// An operand of one row is reshaped.
func.func @one_row(%arg0: tensor<2x3x1x5xf32>, %arg1: tensor<2x5x3x6xf32>) -> tensor<2x3x1x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x1x5xf32>) -> tensor<2x3x1x5xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32>
  %3 = "tpu.Permute"(%2, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x5x6xf32>
  %4 = "tpu.MatMul"(%1, %3, %0, %0, %0) : (tensor<2x3x1x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x1x6xf32>
  return %4 : tensor<2x3x1x6xf32>
}

// CHECK-LABEL: func.func @one_row
// CHECK: %3 = "tpu.Reshape"(%1){{.*}}-> tensor<2x1x3x5xf32>
// CHECK-NEXT: %4 = "tpu.MatMul"(%3, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<2x1x3x6xf32>
// CHECK-NEXT: %5 = "tpu.Reshape"(%4){{.*}}-> tensor<2x3x1x6xf32>
// CHECK-NEXT: return %5

// -----

// With one head there is nothing to swap.
func.func @one_head(%arg0: tensor<2x1x7x5xf32>, %arg1: tensor<2x5x1x6xf32>) -> tensor<2x1x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x1x7x5xf32>) -> tensor<2x1x7x5xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x5x1x6xf32>) -> tensor<2x5x1x6xf32>
  %3 = "tpu.Permute"(%2, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x1x6xf32>, none) -> tensor<2x1x5x6xf32>
  %4 = "tpu.MatMul"(%1, %3, %0, %0, %0) : (tensor<2x1x7x5xf32>, tensor<2x1x5x6xf32>, none, none, none) -> tensor<2x1x7x6xf32>
  return %4 : tensor<2x1x7x6xf32>
}

// CHECK-LABEL: func.func @one_head
// CHECK: %3 = "tpu.Reshape"(%2){{.*}}-> tensor<2x1x5x6xf32>
// CHECK-NEXT: %4 = "tpu.MatMul"(%1, %3, %0, %0, %0){{.*}}-> tensor<2x1x7x6xf32>
// CHECK-NEXT: return %4

// -----

// The smaller operand is permuted when the one behind cancels.
func.func @smaller(%arg0: tensor<2x3x7x5xf32>, %arg1: tensor<2x5x3x32xf32>) -> tensor<2x7x3x32xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x5x3x32xf32>) -> tensor<2x5x3x32xf32>
  %3 = "tpu.Permute"(%2, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x32xf32>, none) -> tensor<2x3x5x32xf32>
  %4 = "tpu.MatMul"(%1, %3, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x32xf32>, none, none, none) -> tensor<2x3x7x32xf32>
  %5 = "tpu.Permute"(%4, %0) {order = [0, 2, 1, 3]} : (tensor<2x3x7x32xf32>, none) -> tensor<2x7x3x32xf32>
  %6 = "tpu.Active"(%5) {mode = #tpu<active_mode ABSVAL>} : (tensor<2x7x3x32xf32>) -> tensor<2x7x3x32xf32>
  return %6 : tensor<2x7x3x32xf32>
}

// CHECK-LABEL: func.func @smaller
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x7x3x5xf32>
// CHECK-NEXT: %4 = "tpu.MatMul"(%3, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<2x7x3x32xf32>
// CHECK-NEXT: %5 = "tpu.Active"(%4){{.*}}-> tensor<2x7x3x32xf32>
// CHECK-NEXT: return %5

// -----

// Refused: a larger operand would be permuted.
func.func @larger(%arg0: tensor<2x3x49x49xf32>, %arg1: tensor<2x49x3x4xf32>) -> tensor<2x49x3x4xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x49x49xf32>) -> tensor<2x3x49x49xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x49x3x4xf32>) -> tensor<2x49x3x4xf32>
  %3 = "tpu.Permute"(%2, %0) {order = [0, 2, 1, 3]} : (tensor<2x49x3x4xf32>, none) -> tensor<2x3x49x4xf32>
  %4 = "tpu.MatMul"(%1, %3, %0, %0, %0) : (tensor<2x3x49x49xf32>, tensor<2x3x49x4xf32>, none, none, none) -> tensor<2x3x49x4xf32>
  %5 = "tpu.Permute"(%4, %0) {order = [0, 2, 1, 3]} : (tensor<2x3x49x4xf32>, none) -> tensor<2x49x3x4xf32>
  %6 = "tpu.Active"(%5) {mode = #tpu<active_mode ABSVAL>} : (tensor<2x49x3x4xf32>) -> tensor<2x49x3x4xf32>
  return %6 : tensor<2x49x3x4xf32>
}

// CHECK-LABEL: func.func @larger
// CHECK: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x49x4xf32>
// CHECK-NEXT: %4 = "tpu.MatMul"(%1, %3, %0, %0, %0){{.*}}-> tensor<2x3x49x4xf32>
// CHECK-NEXT: %5 = "tpu.Active"(%4){{.*}}-> tensor<2x3x49x4xf32>
// CHECK-NEXT: %6 = "tpu.Permute"(%5, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x49x3x4xf32>
// CHECK-NEXT: return %6

// -----

// Refused: the result would be permuted, too.
func.func @result_too(%arg0: tensor<2x3x7x5xf32>, %arg1: tensor<2x5x3x32xf32>) -> tensor<2x3x7x32xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x5x3x32xf32>) -> tensor<2x5x3x32xf32>
  %3 = "tpu.Permute"(%2, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x32xf32>, none) -> tensor<2x3x5x32xf32>
  %4 = "tpu.MatMul"(%1, %3, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x32xf32>, none, none, none) -> tensor<2x3x7x32xf32>
  %5 = "tpu.Active"(%4) {mode = #tpu<active_mode ABSVAL>} : (tensor<2x3x7x32xf32>) -> tensor<2x3x7x32xf32>
  return %5 : tensor<2x3x7x32xf32>
}

// CHECK-LABEL: func.func @result_too
// CHECK: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x32xf32>
// CHECK-NEXT: %4 = "tpu.MatMul"(%1, %3, %0, %0, %0){{.*}}-> tensor<2x3x7x32xf32>
// CHECK-NEXT: %5 = "tpu.Active"(%4){{.*}}-> tensor<2x3x7x32xf32>
// CHECK-NEXT: return %5

// -----

// Refused: no permute.
func.func @refused_no_permute(%arg0: tensor<2x3x7x5xf32>, %arg1: tensor<2x3x5x6xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %3 = "tpu.MatMul"(%1, %2, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %3 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @refused_no_permute
// CHECK: %3 = "tpu.MatMul"(%1, %2, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %3

// -----

// Refused: both weights.
func.func @refused_both_weights() -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Weight"() : () -> tensor<2x3x7x5xf32> loc("v0")
  %2 = "top.Weight"() : () -> tensor<2x3x5x6xf32> loc("v1")
  %3 = "tpu.MatMul"(%1, %2, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %3 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @refused_both_weights
// CHECK: %3 = "tpu.MatMul"(%1, %2, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %3

// -----

// Refused: another order.
func.func @refused_another_order(%arg0: tensor<2x3x5x7xf32>, %arg1: tensor<2x3x6x5xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 1, 3, 2]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x3x6x5xf32>) -> tensor<2x3x6x5xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 1, 3, 2]} : (tensor<2x3x6x5xf32>, none) -> tensor<2x3x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %5 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @refused_another_order
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x3x6x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: batches move.
func.func @refused_batches_move(%arg0: tensor<3x7x2x5xf32>, %arg1: tensor<3x5x2x6xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<3x7x2x5xf32>) -> tensor<3x7x2x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [2, 0, 1, 3]} : (tensor<3x7x2x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<3x5x2x6xf32>) -> tensor<3x5x2x6xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [2, 0, 1, 3]} : (tensor<3x5x2x6xf32>, none) -> tensor<2x3x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %5 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @refused_batches_move
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [2, 0, 1, 3]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<3x5x2x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [2, 0, 1, 3]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: heads broadcast.
func.func @refused_heads_broadcast(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x5x1x6xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x1x6xf32>) -> tensor<2x5x1x6xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x1x6xf32>, none) -> tensor<2x1x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x1x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %5 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @refused_heads_broadcast
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x5x1x6xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<2x1x5x6xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: batches broadcast.
func.func @refused_batches_broadcast(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<1x5x3x6xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<1x5x3x6xf32>) -> tensor<1x5x3x6xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<1x5x3x6xf32>, none) -> tensor<1x3x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<1x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %5 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @refused_batches_broadcast
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<1x5x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<1x3x5x6xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: 3-D right.
func.func @refused_three_d_right(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<5x6xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<5x6xf32>) -> tensor<5x6xf32>
  %4 = "tpu.MatMul"(%2, %3, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %4 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @refused_three_d_right
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<5x6xf32>
// CHECK-NEXT: %4 = "tpu.MatMul"(%2, %3, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: weight turned alone.
func.func @refused_weight_turned_alone(%arg0: tensor<2x5x3x6xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Weight"() : () -> tensor<2x3x5x7xf32> loc("v0")
  %2 = "top.Input"(%arg0) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32>
  %3 = "tpu.Permute"(%2, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x5x6xf32>
  %4 = "tpu.MatMul"(%1, %3, %0, %0, %0) {left_transpose = true} : (tensor<2x3x5x7xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  return %4 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @refused_weight_turned_alone
// CHECK: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %4 = "tpu.MatMul"(%1, %3, %0, %0, %0){{.*}}left_transpose = true{{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: output transposed.
func.func @refused_output_transposed(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x5x3x6xf32>) -> tensor<2x3x6x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) {output_transpose = true} : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x6x7xf32>
  return %5 : tensor<2x3x6x7xf32>
}

// CHECK-LABEL: func.func @refused_output_transposed
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x5x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}output_transpose = true{{.*}}-> tensor<2x3x6x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: rows merged.
func.func @refused_rows_merged(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x5x3x6xf32>) -> tensor<42x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) {keep_dims = false} : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<42x6xf32>
  return %5 : tensor<42x6xf32>
}

// CHECK-LABEL: func.func @refused_rows_merged
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x5x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}keep_dims = false{{.*}}-> tensor<42x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the left permute is used.
func.func @used_left(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x5x3x6xf32>) -> (tensor<2x3x7x6xf32>, tensor<2x3x7x5xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  %6 = "tpu.MinConst"(%2) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32>
  return %5, %6 : tensor<2x3x7x6xf32>, tensor<2x3x7x5xf32>
}

// CHECK-LABEL: func.func @used_left
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x5x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%2){{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: return %5, %6

// -----

// Refused: the right permute is used.
func.func @used_right(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x5x3x6xf32>) -> (tensor<2x3x7x6xf32>, tensor<2x3x5x6xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x5x6xf32>
  %5 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  %6 = "tpu.MinConst"(%4) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  return %5, %6 : tensor<2x3x7x6xf32>, tensor<2x3x5x6xf32>
}

// CHECK-LABEL: func.func @used_right
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x5x3x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%2, %4, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%4){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: return %5, %6

// -----

// Bias and relu stay.
func.func @bias(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x5x3x6xf32>) -> tensor<2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x5x6xf32>
  %5 = "top.Weight"() : () -> tensor<6xf32> loc("bias")
  %6 = "tpu.MatMul"(%2, %4, %5, %0, %0) {do_relu = true} : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, tensor<6xf32>, none, none) -> tensor<2x3x7x6xf32>
  return %6 : tensor<2x3x7x6xf32>
}

// CHECK-LABEL: func.func @bias
// CHECK: %4 = "tpu.MatMul"(%1, %2, %3, %0, %0){{.*}}do_relu = true{{.*}}hdim_is_batch = true{{.*}}-> tensor<2x7x3x6xf32>
// CHECK-NEXT: %5 = "tpu.Permute"(%4, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: another product reads the weight as it is.
func.func @refused_weight_is_shared(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x3x4x5xf32>) -> (tensor<2x3x7x6xf32>, tensor<2x3x4x6xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %3 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32>
  %4 = "top.Weight"() : () -> tensor<2x3x5x6xf32> loc("v1")
  %5 = "tpu.MatMul"(%3, %4, %0, %0, %0) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32>
  %6 = "tpu.MatMul"(%2, %4, %0, %0, %0) : (tensor<2x3x4x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x4x6xf32>
  return %5, %6 : tensor<2x3x7x6xf32>, tensor<2x3x4x6xf32>
}

// CHECK-LABEL: func.func @refused_weight_is_shared
// CHECK: "tpu.Permute"
// CHECK-NOT: hdim_is_batch = true
// CHECK: "tpu.MatMul"({{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NOT: hdim_is_batch = true
// CHECK: return

// -----

// Refused: the product reads heads as they lie already, so what is permuted is something else.
func.func @refused_reads_heads_already(%arg0: tensor<2x3x5x5xf32>, %arg1: tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %3 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x3x5x5xf32>, none) -> tensor<2x5x3x5xf32>
  %4 = "tpu.Permute"(%2, %0) {order = [0, 2, 1, 3]} : (tensor<2x3x5x6xf32>, none) -> tensor<2x5x3x6xf32>
  %5 = "tpu.MatMul"(%3, %4, %0, %0, %0) {hdim_is_batch = true} : (tensor<2x5x3x5xf32>, tensor<2x5x3x6xf32>, none, none, none) -> tensor<2x5x3x6xf32>
  return %5 : tensor<2x5x3x6xf32>
}

// CHECK-LABEL: func.func @refused_reads_heads_already
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]
// CHECK-NEXT: %4 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]
// CHECK-NEXT: %5 = "tpu.MatMul"(%3, %4, {{.*}}hdim_is_batch = true{{.*}}-> tensor<2x5x3x6xf32>
// CHECK-NEXT: return %5

// -----

// Five dimensions have other heads.
func.func @refused_five_dimensions(%arg0: tensor<1x7x2x3x5xf32>, %arg1: tensor<1x2x3x5x6xf32>) -> tensor<1x2x3x7x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x7x2x3x5xf32>) -> tensor<1x7x2x3x5xf32>
  %2 = "top.Input"(%arg1) : (tensor<1x2x3x5x6xf32>) -> tensor<1x2x3x5x6xf32>
  %3 = "tpu.Permute"(%1, %0) {order = [0, 2, 3, 1, 4]} : (tensor<1x7x2x3x5xf32>, none) -> tensor<1x2x3x7x5xf32>
  %4 = "tpu.MatMul"(%3, %2, %0, %0, %0) : (tensor<1x2x3x7x5xf32>, tensor<1x2x3x5x6xf32>, none, none, none) -> tensor<1x2x3x7x6xf32>
  return %4 : tensor<1x2x3x7x6xf32>
}

// CHECK-LABEL: func.func @refused_five_dimensions
// CHECK-NOT: hdim_is_batch = true
// CHECK: return

// -----

// An operand of one row is worth more than it would be if it had to be permuted.
func.func @one_row_wide(%arg_x: tensor<2x3x1x500xf32>, %arg_w: tensor<2x500x3x1xf32>) -> tensor<2x3x1x1xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x1x500xf32>) -> tensor<2x3x1x500xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<2x500x3x1xf32>) -> tensor<2x500x3x1xf32> loc("w")
  %q = "tpu.Permute"(%w, %n) {order = [0, 2, 1, 3]} : (tensor<2x500x3x1xf32>, none) -> tensor<2x3x500x1xf32> loc("q")
  %y = "tpu.MatMul"(%x, %q, %n, %n, %n) : (tensor<2x3x1x500xf32>, tensor<2x3x500x1xf32>, none, none, none) -> tensor<2x3x1x1xf32> loc("y")
  return %y : tensor<2x3x1x1xf32>
}

// CHECK-LABEL: func.func @one_row_wide
// CHECK: %3 = "tpu.Reshape"(%1){{.*}}-> tensor<2x1x3x500xf32>
// CHECK-NEXT: %4 = "tpu.MatMul"(%3, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<2x1x3x1xf32>
// CHECK-NEXT: %5 = "tpu.Reshape"(%4){{.*}}-> tensor<2x3x1x1xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the right operand has no dimension of heads, if its first two are as large as batch and heads.
func.func @refused_three_dimensions(%arg_x: tensor<3x7x3x3xf32>, %arg_w: tensor<3x3x6xf32>) -> tensor<3x3x7x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x7x3x3xf32>) -> tensor<3x7x3x3xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<3x3x6xf32>) -> tensor<3x3x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<3x7x3x3xf32>, none) -> tensor<3x3x7x3xf32> loc("p")
  %y = "tpu.MatMul"(%p, %w, %n, %n, %n) : (tensor<3x3x7x3xf32>, tensor<3x3x6xf32>, none, none, none) -> tensor<3x3x7x6xf32> loc("y")
  return %y : tensor<3x3x7x6xf32>
}

// CHECK-LABEL: func.func @refused_three_dimensions
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<3x3x7x3xf32>
// CHECK-NEXT: %4 = "tpu.MatMul"(%3, %2, %0, %0, %0){{.*}}-> tensor<3x3x7x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: another product reads the left weight as it is.
func.func @refused_left_weight_is_shared(%arg_a: tensor<2x5x3x6xf32>, %arg_b: tensor<2x3x5x4xf32>) -> (tensor<2x3x7x6xf32>, tensor<2x3x7x4xf32>) {
  %n = "top.None"() : () -> none
  %a = "top.Input"(%arg_a) : (tensor<2x5x3x6xf32>) -> tensor<2x5x3x6xf32> loc("a")
  %b = "top.Input"(%arg_b) : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32> loc("b")
  %p = "tpu.Permute"(%a, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x6xf32>, none) -> tensor<2x3x5x6xf32> loc("p")
  %w = "top.Weight"() : () -> tensor<2x3x7x5xf32> loc("v2")
  %y = "tpu.MatMul"(%w, %p, %n, %n, %n) : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none) -> tensor<2x3x7x6xf32> loc("y")
  %z = "tpu.MatMul"(%w, %b, %n, %n, %n) : (tensor<2x3x7x5xf32>, tensor<2x3x5x4xf32>, none, none, none) -> tensor<2x3x7x4xf32> loc("z")
  return %y, %z : tensor<2x3x7x6xf32>, tensor<2x3x7x4xf32>
}

// CHECK-LABEL: func.func @refused_left_weight_is_shared
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: %4 = "top.Weight"(){{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%4, %3, %0, %0, %0){{.*}}-> tensor<2x3x7x6xf32>
// CHECK-NEXT: %6 = "tpu.MatMul"(%4, %2, %0, %0, %0){{.*}}-> tensor<2x3x7x4xf32>
// CHECK-NEXT: return %5, %6
