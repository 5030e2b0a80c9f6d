// RUN: tpu-opt %s --split-input-file --processor-top-optimize --no-locations | filecheck %s

// ConvertMatMulWithRightTranspose, ConvertMatMulWithLeftTranspose: a Permute of an operand becomes a flag.

// Matrix.
func.func @right_matrix(%arg0: tensor<4x3xf32>, %arg1: tensor<5x3xf32>) -> tensor<4x5xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = "top.Input"(%arg1) : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %3 = "top.Permute"(%2) {order = [1, 0]} : (tensor<5x3xf32>) -> tensor<3x5xf32>
  %4 = "top.MatMul"(%1, %3, %0) : (tensor<4x3xf32>, tensor<3x5xf32>, none) -> tensor<4x5xf32>
  return %4 : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @right_matrix
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}right_transpose = true{{.*}}-> tensor<4x5xf32>
// CHECK-NEXT: return %3

// -----

// Batches.
func.func @right_batches(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<2x3x6x4xf32>) -> tensor<2x3x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x3x6x4xf32>) -> tensor<2x3x6x4xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 2]} : (tensor<2x3x6x4xf32>) -> tensor<2x3x4x6xf32>
  %4 = "top.MatMul"(%1, %3, %0) : (tensor<2x3x5x4xf32>, tensor<2x3x4x6xf32>, none) -> tensor<2x3x5x6xf32>
  return %4 : tensor<2x3x5x6xf32>
}

// CHECK-LABEL: func.func @right_batches
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}right_transpose = true{{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: return %3

// -----

// Already transposed.
func.func @right_already_transposed(%arg0: tensor<2x5x4xf32>, %arg1: tensor<2x4x6xf32>) -> tensor<2x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %3 = "top.Permute"(%2) {order = [0, 2, 1]} : (tensor<2x4x6xf32>) -> tensor<2x6x4xf32>
  %4 = "top.MatMul"(%1, %3, %0) {right_transpose = true} : (tensor<2x5x4xf32>, tensor<2x6x4xf32>, none) -> tensor<2x5x6xf32>
  return %4 : tensor<2x5x6xf32>
}

// CHECK-LABEL: func.func @right_already_transposed
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: return %3

// -----

// Ones among the batches move.
func.func @right_ones_among_the_batches_move(%arg0: tensor<1x3x5x4xf32>, %arg1: tensor<1x1x6x4xf32>) -> tensor<1x3x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %3 = "top.Permute"(%2) {order = [1, 0, 3, 2]} : (tensor<1x1x6x4xf32>) -> tensor<1x1x4x6xf32>
  %4 = "top.MatMul"(%1, %3, %0) : (tensor<1x3x5x4xf32>, tensor<1x1x4x6xf32>, none) -> tensor<1x3x5x6xf32>
  return %4 : tensor<1x3x5x6xf32>
}

// CHECK-LABEL: func.func @right_ones_among_the_batches_move
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}right_transpose = true{{.*}}-> tensor<1x3x5x6xf32>
// CHECK-NEXT: return %3

// -----

// Refused: rows move, too.
func.func @right_refused_rows_move_too(%arg0: tensor<2x5x3x4xf32>, %arg1: tensor<2x6x5x4xf32>) -> tensor<2x5x3x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x6x5x4xf32>) -> tensor<2x6x5x4xf32>
  %3 = "top.Permute"(%2) {order = [0, 2, 3, 1]} : (tensor<2x6x5x4xf32>) -> tensor<2x5x4x6xf32>
  %4 = "top.MatMul"(%1, %3, %0) : (tensor<2x5x3x4xf32>, tensor<2x5x4x6xf32>, none) -> tensor<2x5x3x6xf32>
  return %4 : tensor<2x5x3x6xf32>
}

// CHECK-LABEL: func.func @right_refused_rows_move_too
// CHECK: %3 = "top.Permute"(%2){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x5x4x6xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%1, %3, %0){{.*}}-> tensor<2x5x3x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: heads move.
func.func @right_refused_heads_move(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<2x4x3x6xf32>) -> tensor<2x3x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x4x3x6xf32>) -> tensor<2x4x3x6xf32>
  %3 = "top.Permute"(%2) {order = [0, 2, 1, 3]} : (tensor<2x4x3x6xf32>) -> tensor<2x3x4x6xf32>
  %4 = "top.MatMul"(%1, %3, %0) : (tensor<2x3x5x4xf32>, tensor<2x3x4x6xf32>, none) -> tensor<2x3x5x6xf32>
  return %4 : tensor<2x3x5x6xf32>
}

// CHECK-LABEL: func.func @right_refused_heads_move
// CHECK: %3 = "top.Permute"(%2){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x4x6xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%1, %3, %0){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: batches move.
func.func @right_refused_batches_move(%arg0: tensor<3x5x4xf32>, %arg1: tensor<4x6x3xf32>) -> tensor<3x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<4x6x3xf32>) -> tensor<4x6x3xf32>
  %3 = "top.Permute"(%2) {order = [2, 0, 1]} : (tensor<4x6x3xf32>) -> tensor<3x4x6xf32>
  %4 = "top.MatMul"(%1, %3, %0) : (tensor<3x5x4xf32>, tensor<3x4x6xf32>, none) -> tensor<3x5x6xf32>
  return %4 : tensor<3x5x6xf32>
}

// CHECK-LABEL: func.func @right_refused_batches_move
// CHECK: %3 = "top.Permute"(%2){{.*}}order = [2, 0, 1]{{.*}}-> tensor<3x4x6xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%1, %3, %0){{.*}}-> tensor<3x5x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: batches swap, too.
func.func @right_refused_batches_swap_too(%arg0: tensor<2x3x5x4xf32>, %arg1: tensor<3x2x6x4xf32>) -> tensor<2x3x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<3x2x6x4xf32>) -> tensor<3x2x6x4xf32>
  %3 = "top.Permute"(%2) {order = [1, 0, 3, 2]} : (tensor<3x2x6x4xf32>) -> tensor<2x3x4x6xf32>
  %4 = "top.MatMul"(%1, %3, %0) : (tensor<2x3x5x4xf32>, tensor<2x3x4x6xf32>, none) -> tensor<2x3x5x6xf32>
  return %4 : tensor<2x3x5x6xf32>
}

// CHECK-LABEL: func.func @right_refused_batches_swap_too
// CHECK: %3 = "top.Permute"(%2){{.*}}order = [1, 0, 3, 2]{{.*}}-> tensor<2x3x4x6xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%1, %3, %0){{.*}}-> tensor<2x3x5x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: a batch of one moves.
func.func @right_refused_a_batch_of_one_moves(%arg0: tensor<1x3x5x4xf32>, %arg1: tensor<3x1x6x4xf32>) -> tensor<1x3x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<3x1x6x4xf32>) -> tensor<3x1x6x4xf32>
  %3 = "top.Permute"(%2) {order = [1, 0, 3, 2]} : (tensor<3x1x6x4xf32>) -> tensor<1x3x4x6xf32>
  %4 = "top.MatMul"(%1, %3, %0) : (tensor<1x3x5x4xf32>, tensor<1x3x4x6xf32>, none) -> tensor<1x3x5x6xf32>
  return %4 : tensor<1x3x5x6xf32>
}

// CHECK-LABEL: func.func @right_refused_a_batch_of_one_moves
// CHECK: %3 = "top.Permute"(%2){{.*}}order = [1, 0, 3, 2]{{.*}}-> tensor<1x3x4x6xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%1, %3, %0){{.*}}-> tensor<1x3x5x6xf32>
// CHECK-NEXT: return %4

// -----

// All products of one transposed matrix change.
func.func @right_shared(%arg0: tensor<3x3xf32>, %arg1: tensor<4x3xf32>, %arg2: tensor<3x3xf32>) -> (tensor<4x3xf32>, tensor<3x3xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = "top.Permute"(%1) {order = [1, 0]} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %4 = "top.MatMul"(%3, %2, %0) : (tensor<4x3xf32>, tensor<3x3xf32>, none) -> tensor<4x3xf32>
  %5 = "top.Input"(%arg2) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %6 = "top.MatMul"(%5, %2, %0) : (tensor<3x3xf32>, tensor<3x3xf32>, none) -> tensor<3x3xf32>
  return %4, %6 : tensor<4x3xf32>, tensor<3x3xf32>
}

// CHECK-LABEL: func.func @right_shared
// CHECK: %3 = "top.MatMul"(%2, %1, %0){{.*}}right_transpose = true{{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: %4 = "top.Input"(%arg2){{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: %5 = "top.MatMul"(%4, %1, %0){{.*}}right_transpose = true{{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: return %3, %5

// -----

// Refused: it is also a left operand.
func.func @right_used_left(%arg0: tensor<3x3xf32>, %arg1: tensor<4x3xf32>, %arg2: tensor<3x3xf32>) -> (tensor<4x3xf32>, tensor<3x3xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = "top.Permute"(%1) {order = [1, 0]} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %4 = "top.MatMul"(%3, %2, %0) : (tensor<4x3xf32>, tensor<3x3xf32>, none) -> tensor<4x3xf32>
  %5 = "top.Input"(%arg2) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %6 = "top.MatMul"(%2, %5, %0) : (tensor<3x3xf32>, tensor<3x3xf32>, none) -> tensor<3x3xf32>
  return %4, %6 : tensor<4x3xf32>, tensor<3x3xf32>
}

// CHECK-LABEL: func.func @right_used_left
// CHECK: %2 = "top.Permute"(%1){{.*}}order = [1, 0]{{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%3, %2, %0){{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: %5 = "top.Input"(%arg2){{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: %6 = "top.MatMul"(%2, %5, %0){{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: return %4, %6

// -----

// Refused: it is both operands of a product.
func.func @right_used_both(%arg0: tensor<3x3xf32>, %arg1: tensor<4x3xf32>, %arg2: tensor<3x3xf32>) -> (tensor<4x3xf32>, tensor<3x3xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = "top.Permute"(%1) {order = [1, 0]} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %4 = "top.MatMul"(%3, %2, %0) : (tensor<4x3xf32>, tensor<3x3xf32>, none) -> tensor<4x3xf32>
  %5 = "top.Input"(%arg2) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %6 = "top.MatMul"(%2, %2, %0) : (tensor<3x3xf32>, tensor<3x3xf32>, none) -> tensor<3x3xf32>
  return %4, %6 : tensor<4x3xf32>, tensor<3x3xf32>
}

// CHECK-LABEL: func.func @right_used_both
// CHECK: %2 = "top.Permute"(%1){{.*}}order = [1, 0]{{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%3, %2, %0){{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: %5 = "top.Input"(%arg2){{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: %6 = "top.MatMul"(%2, %2, %0){{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: return %4, %6

// -----

// Refused: something else reads it.
func.func @right_used_other(%arg0: tensor<3x3xf32>, %arg1: tensor<4x3xf32>, %arg2: tensor<3x3xf32>) -> (tensor<4x3xf32>, tensor<3x3xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = "top.Permute"(%1) {order = [1, 0]} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %4 = "top.MatMul"(%3, %2, %0) : (tensor<4x3xf32>, tensor<3x3xf32>, none) -> tensor<4x3xf32>
  %5 = "top.Input"(%arg2) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %6 = "top.Abs"(%2) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %4, %6 : tensor<4x3xf32>, tensor<3x3xf32>
}

// CHECK-LABEL: func.func @right_used_other
// CHECK: %2 = "top.Permute"(%1){{.*}}order = [1, 0]{{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%3, %2, %0){{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: %5 = "top.Input"(%arg2){{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: %6 = "top.Abs"(%2){{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: return %4, %6

// -----

// Left beside right.
func.func @left_both(%arg0: tensor<2x4x5xf32>, %arg1: tensor<2x6x4xf32>) -> tensor<2x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %3 = "top.Permute"(%1) {order = [0, 2, 1]} : (tensor<2x4x5xf32>) -> tensor<2x5x4xf32>
  %4 = "top.MatMul"(%3, %2, %0) {right_transpose = true} : (tensor<2x5x4xf32>, tensor<2x6x4xf32>, none) -> tensor<2x5x6xf32>
  return %4 : tensor<2x5x6xf32>
}

// CHECK-LABEL: func.func @left_both
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}left_transpose = true{{.*}}right_transpose = true{{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: return %3

// -----

// Left undoes a flag.
func.func @left_undone(%arg0: tensor<2x5x4xf32>, %arg1: tensor<2x4x6xf32>) -> tensor<2x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %3 = "top.Permute"(%1) {order = [0, 2, 1]} : (tensor<2x5x4xf32>) -> tensor<2x4x5xf32>
  %4 = "top.MatMul"(%3, %2, %0) {left_transpose = true} : (tensor<2x4x5xf32>, tensor<2x4x6xf32>, none) -> tensor<2x5x6xf32>
  return %4 : tensor<2x5x6xf32>
}

// CHECK-LABEL: func.func @left_undone
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: return %3

// -----

// Refused: the right operand is not transposed.
func.func @left_alone(%arg0: tensor<2x4x5xf32>, %arg1: tensor<2x4x6xf32>) -> tensor<2x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %3 = "top.Permute"(%1) {order = [0, 2, 1]} : (tensor<2x4x5xf32>) -> tensor<2x5x4xf32>
  %4 = "top.MatMul"(%3, %2, %0) : (tensor<2x5x4xf32>, tensor<2x4x6xf32>, none) -> tensor<2x5x6xf32>
  return %4 : tensor<2x5x6xf32>
}

// CHECK-LABEL: func.func @left_alone
// CHECK: %3 = "top.Permute"(%1){{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x5x4xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%3, %2, %0){{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: batches move.
func.func @left_batches(%arg0: tensor<4x2x5xf32>, %arg1: tensor<2x6x4xf32>) -> tensor<2x5x6xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<4x2x5xf32>) -> tensor<4x2x5xf32>
  %2 = "top.Input"(%arg1) : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %3 = "top.Permute"(%1) {order = [1, 2, 0]} : (tensor<4x2x5xf32>) -> tensor<2x5x4xf32>
  %4 = "top.MatMul"(%3, %2, %0) {right_transpose = true} : (tensor<2x5x4xf32>, tensor<2x6x4xf32>, none) -> tensor<2x5x6xf32>
  return %4 : tensor<2x5x6xf32>
}

// CHECK-LABEL: func.func @left_batches
// CHECK: %3 = "top.Permute"(%1){{.*}}order = [1, 2, 0]{{.*}}-> tensor<2x5x4xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%3, %2, %0){{.*}}right_transpose = true{{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: the product reads heads as they lie, so that other dimensions are its columns.
func.func @right_refused_reads_heads(%arg_x: tensor<2x5x3x4xf32>, %arg_w: tensor<2x4x6x3xf32>) -> tensor<2x5x3x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<2x4x6x3xf32>) -> tensor<2x4x6x3xf32> loc("w")
  %p = "top.Permute"(%w) {order = [0, 1, 3, 2]} : (tensor<2x4x6x3xf32>) -> tensor<2x4x3x6xf32> loc("p")
  %y = "top.MatMul"(%x, %p, %n) {hdim_is_batch = true} : (tensor<2x5x3x4xf32>, tensor<2x4x3x6xf32>, none) -> tensor<2x5x3x6xf32> loc("y")
  return %y : tensor<2x5x3x6xf32>
}

// CHECK-LABEL: func.func @right_refused_reads_heads
// CHECK: %3 = "top.Permute"(%2){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<2x4x3x6xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%1, %3, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<2x5x3x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused likewise.
func.func @left_refused_reads_heads(%arg_x: tensor<2x4x5x3xf32>, %arg_w: tensor<2x6x3x4xf32>) -> tensor<2x5x3x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<2x6x3x4xf32>) -> tensor<2x6x3x4xf32> loc("w")
  %p = "top.Permute"(%x) {order = [0, 1, 3, 2]} : (tensor<2x4x5x3xf32>) -> tensor<2x4x3x5xf32> loc("p")
  %y = "top.MatMul"(%p, %w, %n) {hdim_is_batch = true, left_transpose = true, right_transpose = true} : (tensor<2x4x3x5xf32>, tensor<2x6x3x4xf32>, none) -> tensor<2x5x3x6xf32> loc("y")
  return %y : tensor<2x5x3x6xf32>
}

// CHECK-LABEL: func.func @left_refused_reads_heads
// CHECK: %3 = "top.Permute"(%1){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<2x4x3x5xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%3, %2, %0){{.*}}hdim_is_batch = true{{.*}}left_transpose = true{{.*}}right_transpose = true{{.*}}-> tensor<2x5x3x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: batches swap, too, which their sizes do not tell.
func.func @right_refused_equal_batches_swap(%arg_x: tensor<3x3x5x4xf32>, %arg_w: tensor<3x3x6x4xf32>) -> tensor<3x3x5x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x3x5x4xf32>) -> tensor<3x3x5x4xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<3x3x6x4xf32>) -> tensor<3x3x6x4xf32> loc("w")
  %p = "top.Permute"(%w) {order = [1, 0, 3, 2]} : (tensor<3x3x6x4xf32>) -> tensor<3x3x4x6xf32> loc("p")
  %y = "top.MatMul"(%x, %p, %n) : (tensor<3x3x5x4xf32>, tensor<3x3x4x6xf32>, none) -> tensor<3x3x5x6xf32> loc("y")
  return %y : tensor<3x3x5x6xf32>
}

// CHECK-LABEL: func.func @right_refused_equal_batches_swap
// CHECK: %3 = "top.Permute"(%2){{.*}}order = [1, 0, 3, 2]{{.*}}-> tensor<3x3x4x6xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%1, %3, %0){{.*}}-> tensor<3x3x5x6xf32>
// CHECK-NEXT: return %4

// -----

// Refused: all dimensions move, which their sizes do not tell.
func.func @right_refused_equal_sizes(%arg_x: tensor<4x5x4xf32>, %arg_w: tensor<4x4x4xf32>) -> tensor<4x5x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x5x4xf32>) -> tensor<4x5x4xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32> loc("w")
  %p = "top.Permute"(%w) {order = [1, 2, 0]} : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32> loc("p")
  %y = "top.MatMul"(%x, %p, %n) : (tensor<4x5x4xf32>, tensor<4x4x4xf32>, none) -> tensor<4x5x4xf32> loc("y")
  return %y : tensor<4x5x4xf32>
}

// CHECK-LABEL: func.func @right_refused_equal_sizes
// CHECK: %3 = "top.Permute"(%2){{.*}}order = [1, 2, 0]{{.*}}-> tensor<4x4x4xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%1, %3, %0){{.*}}-> tensor<4x5x4xf32>
// CHECK-NEXT: return %4

// -----

// Refused: the columns move in front of the heads, of which there are as many.
func.func @right_refused_columns_in_front(%arg_x: tensor<2x3x5x3xf32>, %arg_w: tensor<2x3x4x3xf32>) -> tensor<2x3x5x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x3x5x3xf32>) -> tensor<2x3x5x3xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<2x3x4x3xf32>) -> tensor<2x3x4x3xf32> loc("w")
  %p = "top.Permute"(%w) {order = [0, 3, 1, 2]} : (tensor<2x3x4x3xf32>) -> tensor<2x3x3x4xf32> loc("p")
  %y = "top.MatMul"(%x, %p, %n) : (tensor<2x3x5x3xf32>, tensor<2x3x3x4xf32>, none) -> tensor<2x3x5x4xf32> loc("y")
  return %y : tensor<2x3x5x4xf32>
}

// CHECK-LABEL: func.func @right_refused_columns_in_front
// CHECK: %3 = "top.Permute"(%2){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x3x3x4xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%1, %3, %0){{.*}}-> tensor<2x3x5x4xf32>
// CHECK-NEXT: return %4

// -----

// Refused: a sum reads it as its second operand.
func.func @right_used_in_a_sum(%arg_w: tensor<3x3xf32>, %arg_x: tensor<4x3xf32>, %arg_v: tensor<3x3xf32>) -> (tensor<4x3xf32>, tensor<3x3xf32>) {
  %n = "top.None"() : () -> none
  %w = "top.Input"(%arg_w) : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("w")
  %x = "top.Input"(%arg_x) : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("x")
  %v = "top.Input"(%arg_v) : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("v")
  %p = "top.Permute"(%w) {order = [1, 0]} : (tensor<3x3xf32>) -> tensor<3x3xf32> loc("p")
  %y = "top.MatMul"(%x, %p, %n) : (tensor<4x3xf32>, tensor<3x3xf32>, none) -> tensor<4x3xf32> loc("y")
  %z = "top.Add"(%v, %p) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> loc("z")
  return %y, %z : tensor<4x3xf32>, tensor<3x3xf32>
}

// CHECK-LABEL: func.func @right_used_in_a_sum
// CHECK: %4 = "top.Permute"(%1){{.*}}order = [1, 0]{{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: %5 = "top.MatMul"(%2, %4, %0){{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: %6 = "top.Add"(%3, %4){{.*}}-> tensor<3x3xf32>
// CHECK-NEXT: return %5, %6

// -----

// Refused: something else reads the left operand.
func.func @left_used_other(%arg_x: tensor<2x4x5xf32>, %arg_w: tensor<2x6x4xf32>) -> (tensor<2x5x6xf32>, tensor<2x5x4xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x4x5xf32>) -> tensor<2x4x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32> loc("w")
  %p = "top.Permute"(%x) {order = [0, 2, 1]} : (tensor<2x4x5xf32>) -> tensor<2x5x4xf32> loc("p")
  %y = "top.MatMul"(%p, %w, %n) {right_transpose = true} : (tensor<2x5x4xf32>, tensor<2x6x4xf32>, none) -> tensor<2x5x6xf32> loc("y")
  %z = "top.Abs"(%p) : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32> loc("z")
  return %y, %z : tensor<2x5x6xf32>, tensor<2x5x4xf32>
}

// CHECK-LABEL: func.func @left_used_other
// CHECK: %3 = "top.Permute"(%1){{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x5x4xf32>
// CHECK-NEXT: %4 = "top.MatMul"(%3, %2, %0){{.*}}right_transpose = true{{.*}}-> tensor<2x5x6xf32>
// CHECK-NEXT: %5 = "top.Abs"(%3){{.*}}-> tensor<2x5x4xf32>
// CHECK-NEXT: return %4, %5

// -----

// Refused: the shapes are not known.
func.func @right_refused_unknown(%arg_x: tensor<5x4xf32>, %arg_v: tensor<6x4xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("x")
  %v = "top.Input"(%arg_v) : (tensor<6x4xf32>) -> tensor<6x4xf32> loc("v")
  %w = "top.Abs"(%v) : (tensor<6x4xf32>) -> tensor<*xf32> loc("w")
  %p = "top.Permute"(%w) {order = [1, 0]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %y = "top.MatMul"(%x, %p, %n) : (tensor<5x4xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @right_refused_unknown
// CHECK: %3 = "top.Abs"(%2){{.*}}-> tensor<*xf32>
// CHECK-NEXT: %4 = "top.Permute"(%3){{.*}}order = [1, 0]{{.*}}-> tensor<*xf32>
// CHECK-NEXT: %5 = "top.MatMul"(%1, %4, %0){{.*}}-> tensor<*xf32>
// CHECK-NEXT: return %5
