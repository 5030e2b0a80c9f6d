// RUN: tpu-opt %s --split-input-file --processor-tpu-optimize --no-locations | filecheck %s

// PermuteReorderPattern, PermuteMulconstSwap, PermuteFuseAddSoftmax: permutes move behind element-wise ops.

// Behind Softmax.
func.func @behind_softmax(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<2x3x5x7xf32>, none, none, none, none, none) -> tensor<2x3x5x7xf32>
  return %3 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @behind_softmax
// CHECK: %2 = "tpu.Softmax"(%1, %0, %0, %0, %0, %0){{.*}}axis = 3 : si32{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %3

// -----

// Behind MulConst.
func.func @behind_mulconst(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.MulConst"(%2) {const_val = 5.000000e-01 : f64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %3 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @behind_mulconst
// CHECK: %2 = "tpu.MulConst"(%1){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %3

// -----

// Not behind a Cast when what is permuted is a part of what was permuted: the two are one move.
func.func @part_of_heads(%arg0: tensor<2x5x3x7x2xf16>) -> tensor<2x5x3x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7x2xf16>) -> tensor<2x5x3x7x2xf16>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3, 4]} : (tensor<2x5x3x7x2xf16>, none) -> tensor<2x3x5x7x2xf16>
  %3 = "tpu.Slice"(%2, %0, %0, %0, %0) {axes = [], ends = [2, 3, 5, 7, 1], offset = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} : (tensor<2x3x5x7x2xf16>, none, none, none, none) -> tensor<2x3x5x7x1xf16>
  %4 = "tpu.Squeeze"(%3) {axes = [4]} : (tensor<2x3x5x7x1xf16>) -> tensor<2x3x5x7xf16>
  %5 = "tpu.Permute"(%4, %0) {order = [0, 2, 1, 3]} : (tensor<2x3x5x7xf16>, none) -> tensor<2x5x3x7xf16>
  %6 = "tpu.Cast"(%5) : (tensor<2x5x3x7xf16>) -> tensor<2x5x3x7xf32>
  return %6 : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @part_of_heads
// CHECK: [[P:%.*]] = "tpu.Permute"({{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x5x3x7xf16>
// CHECK-NEXT: [[Y:%.*]] = "tpu.Cast"([[P]])
// CHECK-NEXT: return [[Y]]

// -----

// Behind AddConst.
func.func @behind_addconst(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.AddConst"(%2) {const_val = 5.000000e-01 : f64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %3 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @behind_addconst
// CHECK: %2 = "tpu.AddConst"(%1){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %3

// -----

// Behind Active.
func.func @behind_active(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.Active"(%2) {mode = #tpu<active_mode GELU>} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %3 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @behind_active
// CHECK: %2 = "tpu.Active"(%1){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %3

// -----

// Behind Relu.
func.func @behind_relu(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.Relu"(%2) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %3 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @behind_relu
// CHECK: %2 = "tpu.Relu"(%1){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %3

// -----

// A Softmax of dimension 0.
func.func @softmax_0(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0) {axis = 0 : si32} : (tensor<2x3x5x7xf32>, none, none, none, none, none) -> tensor<2x3x5x7xf32>
  return %3 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @softmax_0
// CHECK: %2 = "tpu.Softmax"(%1, %0, %0, %0, %0, %0){{.*}}axis = 0 : si32{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %3

// -----

// A Softmax of dimension 1.
func.func @softmax_1(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0) {axis = 1 : si32} : (tensor<2x3x5x7xf32>, none, none, none, none, none) -> tensor<2x3x5x7xf32>
  return %3 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @softmax_1
// CHECK: %2 = "tpu.Softmax"(%1, %0, %0, %0, %0, %0){{.*}}axis = 2 : si32{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %3

// -----

// A Softmax of dimension 2.
func.func @softmax_2(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0) {axis = 2 : si32} : (tensor<2x3x5x7xf32>, none, none, none, none, none) -> tensor<2x3x5x7xf32>
  return %3 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @softmax_2
// CHECK: %2 = "tpu.Softmax"(%1, %0, %0, %0, %0, %0){{.*}}axis = 1 : si32{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %3

// -----

// Refused: another order.
func.func @unary_order(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x7x5x3xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<2x7x5x3xf32>, none, none, none, none, none) -> tensor<2x7x5x3xf32>
  return %3 : tensor<2x7x5x3xf32>
}

// CHECK-LABEL: func.func @unary_order
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0){{.*}}axis = 3 : si32{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: return %3

// -----

// Refused: the permuted value is used.
func.func @unary_used(%arg0: tensor<2x5x3x7xf32>) -> (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<2x3x5x7xf32>, none, none, none, none, none) -> tensor<2x3x5x7xf32>
  %4 = "tpu.MinConst"(%2) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %3, %4 : tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @unary_used
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0){{.*}}axis = 3 : si32{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.MinConst"(%2){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %3, %4

// -----

// Behind Add.
func.func @both_add(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %5 = "tpu.Add"(%2, %4) : (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %5 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @both_add
// CHECK: %3 = "tpu.Add"(%1, %2){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4

// -----

// Behind Sub.
func.func @both_sub(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %5 = "tpu.Sub"(%2, %4) : (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %5 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @both_sub
// CHECK: %3 = "tpu.Sub"(%1, %2){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4

// -----

// Behind Mul.
func.func @both_mul(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %5 = "tpu.Mul"(%2, %4) : (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %5 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @both_mul
// CHECK: %3 = "tpu.Mul"(%1, %2){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4

// -----

// One input broadcasts.
func.func @both_broadcast(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x5x1x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x1x7xf32>) -> tensor<2x5x1x7xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x1x7xf32>, none) -> tensor<2x1x5x7xf32>
  %5 = "tpu.Add"(%2, %4) : (tensor<2x3x5x7xf32>, tensor<2x1x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %5 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @both_broadcast
// CHECK: %3 = "tpu.Add"(%1, %2){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4

// -----

// Refused: one input is not permuted.
func.func @one_add(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %4 = "tpu.Add"(%2, %3) : (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %4 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @one_add
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Add"(%2, %3){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4

// -----

// Refused: one input is not permuted.
func.func @one_sub(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %4 = "tpu.Sub"(%2, %3) : (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %4 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @one_sub
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Sub"(%2, %3){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4

// -----

// Refused: one input is not permuted.
func.func @one_mul(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %4 = "tpu.Mul"(%2, %3) : (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %4 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @one_mul
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Mul"(%2, %3){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4

// -----

// A factor moves in front of channels last.
func.func @factor(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x7x5xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 3, 1]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x7x5xf32>
  %3 = "tpu.MulConst"(%2) {const_val = 5.000000e-01 : f64} : (tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32>
  return %3 : tensor<2x3x7x5xf32>
}

// CHECK-LABEL: func.func @factor
// CHECK: %2 = "tpu.MulConst"(%1){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: return %3

// -----

// Refused: channels first.
func.func @factor_first(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x7x5x3xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "tpu.MulConst"(%2) {const_val = 5.000000e-01 : f64} : (tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return %3 : tensor<2x7x5x3xf32>
}

// CHECK-LABEL: func.func @factor_first
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "tpu.MulConst"(%2){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: return %3

// -----

// Permutes around a masked Softmax cancel.
func.func @mask_2_1_5_7(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x1x5x7xf32>) -> tensor<2x5x3x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x1x5x7xf32>) -> tensor<2x1x5x7xf32>
  %4 = "tpu.Add"(%2, %3) : (tensor<2x3x5x7xf32>, tensor<2x1x5x7xf32>) -> tensor<2x3x5x7xf32>
  %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<2x3x5x7xf32>, none, none, none, none, none) -> tensor<2x3x5x7xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 2, 1, 3]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x3x7xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  return %7 : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @mask_2_1_5_7
// CHECK: %3 = "tpu.Reshape"(%2){{.*}}-> tensor<2x5x1x7xf32>
// CHECK-NEXT: %4 = "tpu.Add"(%1, %3){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0){{.*}}axis = 3 : si32{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %6

// -----

// Permutes around a masked Softmax cancel.
func.func @mask_1_1_5_7(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<1x1x5x7xf32>) -> tensor<2x5x3x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<1x1x5x7xf32>) -> tensor<1x1x5x7xf32>
  %4 = "tpu.Add"(%2, %3) : (tensor<2x3x5x7xf32>, tensor<1x1x5x7xf32>) -> tensor<2x3x5x7xf32>
  %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<2x3x5x7xf32>, none, none, none, none, none) -> tensor<2x3x5x7xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 2, 1, 3]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x3x7xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  return %7 : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @mask_1_1_5_7
// CHECK: %3 = "tpu.Reshape"(%2){{.*}}-> tensor<1x5x1x7xf32>
// CHECK-NEXT: %4 = "tpu.Add"(%1, %3){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0){{.*}}axis = 3 : si32{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %6

// -----

// Permutes around a masked Softmax cancel.
func.func @mask_2_3_1_7(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x3x1x7xf32>) -> tensor<2x5x3x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x3x1x7xf32>) -> tensor<2x3x1x7xf32>
  %4 = "tpu.Add"(%2, %3) : (tensor<2x3x5x7xf32>, tensor<2x3x1x7xf32>) -> tensor<2x3x5x7xf32>
  %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<2x3x5x7xf32>, none, none, none, none, none) -> tensor<2x3x5x7xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 2, 1, 3]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x3x7xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  return %7 : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @mask_2_3_1_7
// CHECK: %3 = "tpu.Reshape"(%2){{.*}}-> tensor<2x1x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Add"(%1, %3){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0){{.*}}axis = 3 : si32{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %6

// -----

// The mask comes first.
func.func @mask_first(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x1x5x7xf32>) -> tensor<2x5x3x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x1x5x7xf32>) -> tensor<2x1x5x7xf32>
  %4 = "tpu.Add"(%3, %2) : (tensor<2x1x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<2x3x5x7xf32>, none, none, none, none, none) -> tensor<2x3x5x7xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 2, 1, 3]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x3x7xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  return %7 : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @mask_first
// CHECK: %3 = "tpu.Reshape"(%2){{.*}}-> tensor<2x5x1x7xf32>
// CHECK-NEXT: %4 = "tpu.Add"(%3, %1){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0){{.*}}axis = 3 : si32{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %6

// -----

// Refused: a mask of each head and row.
func.func @mask_full(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x3x5x7xf32>) -> tensor<2x5x3x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %4 = "tpu.Add"(%2, %3) : (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<2x3x5x7xf32>, none, none, none, none, none) -> tensor<2x3x5x7xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 2, 1, 3]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x3x7xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  return %7 : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @mask_full
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Add"(%2, %3){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0){{.*}}axis = 3 : si32{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %6 = "tpu.Permute"(%5, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %7 = "tpu.MinConst"(%6){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %7

// -----

// Refused: a mask of lower rank.
func.func @mask_rank(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<5x7xf32>) -> tensor<2x5x3x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Input"(%arg1) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %4 = "tpu.Add"(%2, %3) : (tensor<2x3x5x7xf32>, tensor<5x7xf32>) -> tensor<2x3x5x7xf32>
  %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<2x3x5x7xf32>, none, none, none, none, none) -> tensor<2x3x5x7xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 2, 1, 3]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x5x3x7xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  return %7 : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @mask_rank
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<5x7xf32>
// CHECK-NEXT: %4 = "tpu.Add"(%2, %3){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0){{.*}}axis = 3 : si32{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %6 = "tpu.Permute"(%5, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %7 = "tpu.MinConst"(%6){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %7

// -----

// Refused: a third value is not permuted.
func.func @mask_of_three(%arg_x: tensor<2x5x3x7xf32>, %arg_m: tensor<2x1x5x7xf32>, %arg_v: tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %m = "top.Input"(%arg_m) : (tensor<2x1x5x7xf32>) -> tensor<2x1x5x7xf32> loc("m")
  %v = "top.Input"(%arg_v) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("v")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %s = "tpu.Add"(%p, %m, %v) : (tensor<2x3x5x7xf32>, tensor<2x1x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("s")
  return %s : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @mask_of_three
// CHECK: %4 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %5 = "tpu.Add"(%4, %2, %3){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: a weight in front of what is permuted.
func.func @mask_is_a_weight(%arg_x: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<2x1x5x7xf32> loc("mask")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %s = "tpu.Sub"(%w, %p) : (tensor<2x1x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("s")
  return %s : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @mask_is_a_weight
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Sub"(%2, %3){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4

// -----

// PermuteBehindWhere: a mask that is alike for all heads.
func.func @chosen(%arg_x: tensor<2x5x3x7xf32>, %arg_m: tensor<2x1x5x7xf32>) -> tensor<2x3x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %m = "top.Input"(%arg_m) : (tensor<2x1x5x7xf32>) -> tensor<2x1x5x7xf32> loc("m")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %w = "tpu.Where"(%m, %p, %n, %n) {y_is_const = true, y_const_val = -9.0 : f64} : (tensor<2x1x5x7xf32>, tensor<2x3x5x7xf32>, none, none) -> tensor<2x3x5x7xf32> loc("w")
  return %w : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @chosen
// CHECK: [[M:%.+]] = "tpu.Reshape"({{.*}}-> tensor<2x5x1x7xf32>
// CHECK-NEXT: [[W:%.+]] = "tpu.Where"([[M]], %1, {{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: "tpu.Permute"([[W]], {{.*}}order = [0, 2, 1, 3]

// -----

// Refused: it differs from head to head and from row to row.
func.func @chosen_by_heads(%arg_x: tensor<2x5x3x7xf32>, %arg_m: tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %m = "top.Input"(%arg_m) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("m")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %w = "tpu.Where"(%m, %p, %n, %n) {y_is_const = true, y_const_val = -9.0 : f64} : (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>, none, none) -> tensor<2x3x5x7xf32> loc("w")
  return %w : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @chosen_by_heads
// CHECK: [[P:%.+]] = "tpu.Permute"
// CHECK-NEXT: "tpu.Where"({{.*}}, [[P]],
