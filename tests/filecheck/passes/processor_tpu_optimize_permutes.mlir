// RUN: tpu-opt %s --split-input-file --processor-tpu-optimize --no-locations | filecheck %s

// PermuteAddWeightReorderPattern, MovePermuteAfterAdd, ErasePermuteAroundAdd, PermuteFuse, PermuteFuse2.

// Add.
func.func @add(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Weight"() : () -> tensor<1x3x5x7xf32> loc("w")
  %4 = "tpu.Add"(%2, %3) : (tensor<2x3x5x7xf32>, tensor<1x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %4 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @add
// CHECK: %3 = "tpu.Add"(%1, %2){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4

// -----

// Mul.
func.func @mul(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Weight"() : () -> tensor<1x3x5x7xf32> loc("w")
  %4 = "tpu.Mul"(%2, %3) : (tensor<2x3x5x7xf32>, tensor<1x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %4 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @mul
// CHECK: %3 = "tpu.Mul"(%1, %2){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4

// -----

// Refused: another order.
func.func @weight_order(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x7x3x5xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 2, 1]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x3x5xf32>
  %3 = "top.Weight"() : () -> tensor<1x7x3x5xf32> loc("w")
  %4 = "tpu.Add"(%2, %3) : (tensor<2x7x3x5xf32>, tensor<1x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  return %4 : tensor<2x7x3x5xf32>
}

// CHECK-LABEL: func.func @weight_order
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<2x7x3x5xf32>
// CHECK-NEXT: %3 = "top.Weight"(){{.*}}-> tensor<1x7x3x5xf32>
// CHECK-NEXT: %4 = "tpu.Add"(%2, %3){{.*}}-> tensor<2x7x3x5xf32>
// CHECK-NEXT: return %4

// -----

// Refused: the permuted value is used.
func.func @weight_used(%arg0: tensor<2x5x3x7xf32>) -> (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "top.Weight"() : () -> tensor<1x3x5x7xf32> loc("w")
  %4 = "tpu.Add"(%2, %3) : (tensor<2x3x5x7xf32>, tensor<1x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %5 = "tpu.MinConst"(%2) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %4, %5 : tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @weight_used
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "top.Weight"(){{.*}}-> tensor<1x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Add"(%2, %3){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%2){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4, %5

// -----

// Refused: the weight is used.
func.func @weight_shared(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Weight"() : () -> tensor<1x3x5x7xf32> loc("w")
  %2 = "tpu.Permute"(%arg0, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.Add"(%2, %1) : (tensor<2x3x5x7xf32>, tensor<1x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %4 = "tpu.Mul"(%3, %1) : (tensor<2x3x5x7xf32>, tensor<1x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %4 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @weight_shared
// CHECK: %2 = "tpu.Permute"(%arg0, %0)
// CHECK-NEXT: %3 = "tpu.Add"(%2, %1)
// CHECK-NEXT: %4 = "tpu.Mul"(%3, %1)
// CHECK-NEXT: return %4

// -----

// Refused: the weight has no four dimensions.
func.func @weight_rank(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Weight"() : () -> tensor<5x7xf32> loc("w")
  %2 = "tpu.Permute"(%arg0, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.Add"(%2, %1) : (tensor<2x3x5x7xf32>, tensor<5x7xf32>) -> tensor<2x3x5x7xf32>
  return %3 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @weight_rank
// CHECK: %2 = "tpu.Permute"(%arg0, %0)
// CHECK-NEXT: %3 = "tpu.Add"(%2, %1)
// CHECK-NEXT: return %3

// -----

// Equal permutes move behind a sum.
func.func @sum_equal(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x5x3x7xf32>) -> tensor<2x7x5x3xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %5 = "tpu.Add"(%2, %4) : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %6 = "tpu.MinConst"(%5) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return %6 : tensor<2x7x5x3xf32>
}

// CHECK-LABEL: func.func @sum_equal
// CHECK: %3 = "tpu.Add"(%1, %2){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: return %5

// -----

// Refused: different permutes.
func.func @sum_different(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x3x7x5xf32>) -> tensor<2x7x5x3xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 3, 1]} : (tensor<2x3x7x5xf32>, none) -> tensor<2x7x5x3xf32>
  %5 = "tpu.Add"(%2, %4) : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %6 = "tpu.MinConst"(%5) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return %6 : tensor<2x7x5x3xf32>
}

// CHECK-LABEL: func.func @sum_different
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %5 = "tpu.Add"(%2, %4){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: return %6

// -----

// Refused: a permuted value is used.
func.func @sum_used(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x5x3x7xf32>) -> (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %5 = "tpu.Add"(%2, %4) : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %6 = "tpu.MinConst"(%5) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %7 = "tpu.Active"(%4) {mode = #tpu<active_mode SIN>} : (tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return %6, %7 : tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>
}

// CHECK-LABEL: func.func @sum_used
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %5 = "tpu.Add"(%2, %4){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %7 = "tpu.Active"(%4){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: return %6, %7

// -----

// Equal permutes and reshapes move behind a sum.
func.func @sum_reshaped(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x5x3x7xf32>) -> tensor<2x105xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %5 = "tpu.Reshape"(%2) {shape = [2, 105]} : (tensor<2x7x5x3xf32>) -> tensor<2x105xf32>
  %6 = "tpu.Reshape"(%4) {shape = [2, 105]} : (tensor<2x7x5x3xf32>) -> tensor<2x105xf32>
  %7 = "tpu.Add"(%5, %6) : (tensor<2x105xf32>, tensor<2x105xf32>) -> tensor<2x105xf32>
  %8 = "tpu.MinConst"(%7) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x105xf32>) -> tensor<2x105xf32>
  return %8 : tensor<2x105xf32>
}

// CHECK-LABEL: func.func @sum_reshaped
// CHECK: %3 = "tpu.Add"(%1, %2){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %5 = "tpu.Reshape"(%4){{.*}}-> tensor<2x105xf32>
// CHECK-NEXT: %6 = "tpu.MinConst"(%5){{.*}}-> tensor<2x105xf32>
// CHECK-NEXT: return %6

// -----

// Refused: the permutes are of different shapes.
func.func @sum_reshaped_differently(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x3x5x7xf32>) -> tensor<2x105xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 3, 1, 2]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x7x3x5xf32>
  %5 = "tpu.Reshape"(%2) {shape = [2, 105]} : (tensor<2x7x5x3xf32>) -> tensor<2x105xf32>
  %6 = "tpu.Reshape"(%4) {shape = [2, 105]} : (tensor<2x7x3x5xf32>) -> tensor<2x105xf32>
  %7 = "tpu.Add"(%5, %6) : (tensor<2x105xf32>, tensor<2x105xf32>) -> tensor<2x105xf32>
  %8 = "tpu.MinConst"(%7) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x105xf32>) -> tensor<2x105xf32>
  return %8 : tensor<2x105xf32>
}

// CHECK-LABEL: func.func @sum_reshaped_differently
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x3x5xf32>
// CHECK-NEXT: %5 = "tpu.Reshape"(%2){{.*}}-> tensor<2x105xf32>
// CHECK-NEXT: %6 = "tpu.Reshape"(%4){{.*}}-> tensor<2x105xf32>
// CHECK-NEXT: %7 = "tpu.Add"(%5, %6){{.*}}-> tensor<2x105xf32>
// CHECK-NEXT: %8 = "tpu.MinConst"(%7){{.*}}-> tensor<2x105xf32>
// CHECK-NEXT: return %8

// -----

// All three permutes around a sum go.
func.func @around_all(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %5 = "tpu.Add"(%2, %4) : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 2, 3, 1]} : (tensor<2x7x5x3xf32>, none) -> tensor<2x5x3x7xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  return %7 : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @around_all
// CHECK: %2 = "tpu.Add"(%0, %1){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %3 = "tpu.MinConst"(%2){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %3

// -----

// One of three stays, on the other branch.
func.func @around_one(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x7x3x5xf32>) -> tensor<2x5x3x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 1, 3, 2]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x7x5x3xf32>
  %5 = "tpu.Add"(%2, %4) : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 2, 3, 1]} : (tensor<2x7x5x3xf32>, none) -> tensor<2x5x3x7xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  return %7 : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @around_one
// CHECK: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Add"(%1, %3){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %5

// -----

// The same with the branches exchanged.
func.func @around_one_exchanged(%arg0: tensor<2x7x3x5xf32>, %arg1: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 1, 3, 2]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %5 = "tpu.Add"(%2, %4) : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 2, 3, 1]} : (tensor<2x7x5x3xf32>, none) -> tensor<2x5x3x7xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  return %7 : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @around_one_exchanged
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.Add"(%3, %2){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: nothing cancels.
func.func @around_none(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x3x7x5xf32>) -> tensor<2x7x3x5xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 3, 1]} : (tensor<2x3x7x5xf32>, none) -> tensor<2x7x5x3xf32>
  %5 = "tpu.Add"(%2, %4) : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 1, 3, 2]} : (tensor<2x7x5x3xf32>, none) -> tensor<2x7x3x5xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  return %7 : tensor<2x7x3x5xf32>
}

// CHECK-LABEL: func.func @around_none
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %5 = "tpu.Add"(%2, %4){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %6 = "tpu.Permute"(%5, %0){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<2x7x3x5xf32>
// CHECK-NEXT: %7 = "tpu.MinConst"(%6){{.*}}-> tensor<2x7x3x5xf32>
// CHECK-NEXT: return %7

// -----

// Refused: the sum is used.
func.func @around_sum_used(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x7x3x5xf32>) -> (tensor<2x5x3x7xf32>, tensor<2x7x5x3xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 1, 3, 2]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x7x5x3xf32>
  %5 = "tpu.Add"(%2, %4) : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 2, 3, 1]} : (tensor<2x7x5x3xf32>, none) -> tensor<2x5x3x7xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %8 = "tpu.Active"(%5) {mode = #tpu<active_mode SIN>} : (tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return %7, %8 : tensor<2x5x3x7xf32>, tensor<2x7x5x3xf32>
}

// CHECK-LABEL: func.func @around_sum_used
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x7x3x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %5 = "tpu.Add"(%2, %4){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %6 = "tpu.Permute"(%5, %0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %7 = "tpu.MinConst"(%6){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %8 = "tpu.Active"(%5){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: return %7, %8

// -----

// Refused: a permuted value is used.
func.func @around_permute_used(%arg0: tensor<2x5x3x7xf32>, %arg1: tensor<2x7x3x5xf32>) -> (tensor<2x5x3x7xf32>, tensor<2x7x5x3xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "top.Input"(%arg1) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 1, 3, 2]} : (tensor<2x7x3x5xf32>, none) -> tensor<2x7x5x3xf32>
  %5 = "tpu.Add"(%2, %4) : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %6 = "tpu.Permute"(%5, %0) {order = [0, 2, 3, 1]} : (tensor<2x7x5x3xf32>, none) -> tensor<2x5x3x7xf32>
  %7 = "tpu.MinConst"(%6) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %8 = "tpu.Active"(%4) {mode = #tpu<active_mode SIN>} : (tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return %7, %8 : tensor<2x5x3x7xf32>, tensor<2x7x5x3xf32>
}

// CHECK-LABEL: func.func @around_permute_used
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "top.Input"(%arg1){{.*}}-> tensor<2x7x3x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %5 = "tpu.Add"(%2, %4){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %6 = "tpu.Permute"(%5, %0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %7 = "tpu.MinConst"(%6){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %8 = "tpu.Active"(%4){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: return %7, %8

// -----

// Inverse permutes cancel.
func.func @fuse(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "tpu.Permute"(%2, %0) {order = [0, 2, 3, 1]} : (tensor<2x7x5x3xf32>, none) -> tensor<2x5x3x7xf32>
  %4 = "tpu.MinConst"(%3) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  return %4 : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @fuse
// CHECK: %1 = "tpu.MinConst"(%0){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %1

// -----

// So they do with a reshape between.
func.func @fuse_reshaped(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x15x7xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "tpu.Reshape"(%2) {shape = [2, 7, 15]} : (tensor<2x7x5x3xf32>) -> tensor<2x7x15xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [0, 2, 1]} : (tensor<2x7x15xf32>, none) -> tensor<2x15x7xf32>
  %5 = "tpu.MinConst"(%4) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x15x7xf32>) -> tensor<2x15x7xf32>
  return %5 : tensor<2x15x7xf32>
}

// CHECK-LABEL: func.func @fuse_reshaped
// CHECK: %1 = "tpu.Reshape"(%0){{.*}}-> tensor<2x15x7xf32>
// CHECK-NEXT: %2 = "tpu.MinConst"(%1){{.*}}-> tensor<2x15x7xf32>
// CHECK-NEXT: return %2

// -----

// Refused: the reshape mixes what is permuted.
func.func @fuse_mixed(%arg0: tensor<2x5x3x7xf32>) -> tensor<5x14x3xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32>
  %3 = "tpu.Reshape"(%2) {shape = [14, 5, 3]} : (tensor<2x7x5x3xf32>) -> tensor<14x5x3xf32>
  %4 = "tpu.Permute"(%3, %0) {order = [1, 0, 2]} : (tensor<14x5x3xf32>, none) -> tensor<5x14x3xf32>
  %5 = "tpu.MinConst"(%4) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<5x14x3xf32>) -> tensor<5x14x3xf32>
  return %5 : tensor<5x14x3xf32>
}

// CHECK-LABEL: func.func @fuse_mixed
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "tpu.Reshape"(%2){{.*}}-> tensor<14x5x3xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [1, 0, 2]{{.*}}-> tensor<5x14x3xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<5x14x3xf32>
// CHECK-NEXT: return %5

// -----

// Two permutes are one.
func.func @fuse_two(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x3x7x5xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.Permute"(%2, %0) {order = [0, 1, 3, 2]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x3x7x5xf32>
  %4 = "tpu.MinConst"(%3) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32>
  return %4 : tensor<2x3x7x5xf32>
}

// CHECK-LABEL: func.func @fuse_two
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %3 = "tpu.MinConst"(%2){{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: return %3

// -----

// Refused: the first is used.
func.func @fuse_two_used(%arg0: tensor<2x5x3x7xf32>) -> (tensor<2x3x7x5xf32>, tensor<2x3x5x7xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32>
  %3 = "tpu.Permute"(%2, %0) {order = [0, 1, 3, 2]} : (tensor<2x3x5x7xf32>, none) -> tensor<2x3x7x5xf32>
  %4 = "tpu.MinConst"(%3) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32>
  %5 = "tpu.Active"(%2) {mode = #tpu<active_mode SIN>} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %4, %5 : tensor<2x3x7x5xf32>, tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @fuse_two_used
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 1, 3, 2]{{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %4 = "tpu.MinConst"(%3){{.*}}-> tensor<2x3x7x5xf32>
// CHECK-NEXT: %5 = "tpu.Active"(%2){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %4, %5

// -----

// Refused: one permute would need five dimensions.
func.func @fuse_five(%arg0: tensor<2x3x4x5x6xf32>) -> tensor<3x5x2x6x4xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [1, 0, 3, 2, 4]} : (tensor<2x3x4x5x6xf32>, none) -> tensor<3x2x5x4x6xf32>
  %3 = "tpu.Permute"(%2, %0) {order = [0, 2, 1, 4, 3]} : (tensor<3x2x5x4x6xf32>, none) -> tensor<3x5x2x6x4xf32>
  %4 = "tpu.MinConst"(%3) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<3x5x2x6x4xf32>) -> tensor<3x5x2x6x4xf32>
  return %4 : tensor<3x5x2x6x4xf32>
}

// CHECK-LABEL: func.func @fuse_five
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [1, 0, 3, 2, 4]{{.*}}-> tensor<3x2x5x4x6xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1, 4, 3]{{.*}}-> tensor<3x5x2x6x4xf32>
// CHECK-NEXT: %4 = "tpu.MinConst"(%3){{.*}}-> tensor<3x5x2x6x4xf32>
// CHECK-NEXT: return %4

// -----

// A permute of a dimension of one is a reshape.
func.func @moves_nothing(%arg0: tensor<2x1x3x4xf32>) -> tensor<2x3x1x4xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x1x3x4xf32>) -> tensor<2x1x3x4xf32>
  %2 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<2x1x3x4xf32>, none) -> tensor<2x3x1x4xf32>
  %3 = "tpu.MinConst"(%2) {const_val = 1.000000e+02 : f64, is_scalar = false} : (tensor<2x3x1x4xf32>) -> tensor<2x3x1x4xf32>
  return %3 : tensor<2x3x1x4xf32>
}

// CHECK-LABEL: func.func @moves_nothing
// CHECK: %1 = "tpu.Reshape"(%0){{.*}}-> tensor<2x3x1x4xf32>
// CHECK-NEXT: %2 = "tpu.MinConst"(%1){{.*}}-> tensor<2x3x1x4xf32>
// CHECK-NEXT: return %2

// -----

// Refused: a third value is not permuted.
func.func @sum_of_three(%arg_x: tensor<2x5x3x7xf32>, %arg_z: tensor<2x5x3x7xf32>, %arg_v: tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("z")
  %v = "top.Input"(%arg_v) : (tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32> loc("v")
  %p = "tpu.Permute"(%x, %n) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32> loc("p")
  %q = "tpu.Permute"(%z, %n) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32> loc("q")
  %s = "tpu.Add"(%p, %q, %v) : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32> loc("s")
  return %s : tensor<2x7x5x3xf32>
}

// CHECK-LABEL: func.func @sum_of_three
// CHECK: %4 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %5 = "tpu.Permute"(%2, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %6 = "tpu.Add"(%4, %5, %3){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: return %6

// -----

// Refused likewise, with a Permute behind that undoes both.
func.func @around_three(%arg_x: tensor<2x5x3x7xf32>, %arg_z: tensor<2x5x3x7xf32>, %arg_v: tensor<2x7x5x3xf32>) -> tensor<2x5x3x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("z")
  %v = "top.Input"(%arg_v) : (tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32> loc("v")
  %p = "tpu.Permute"(%x, %n) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32> loc("p")
  %q = "tpu.Permute"(%z, %n) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32> loc("q")
  %s = "tpu.Add"(%p, %q, %v) : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32> loc("s")
  %r = "tpu.Permute"(%s, %n) {order = [0, 2, 3, 1]} : (tensor<2x7x5x3xf32>, none) -> tensor<2x5x3x7xf32> loc("r")
  %y = "tpu.MinConst"(%r) {const_val = 1.0 : f64} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("y")
  return %y : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @around_three
// CHECK: %4 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %5 = "tpu.Permute"(%2, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %6 = "tpu.Add"(%4, %5, %3){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %7 = "tpu.Permute"(%6, %0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %8 = "tpu.MinConst"(%7){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %8

// -----

// Refused: what the Reshapes make is repeated along different dimensions.
func.func @sum_of_rows_and_columns(%arg_x: tensor<2x5x3xf32>, %arg_z: tensor<2x5x3xf32>) -> tensor<30x30xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32> loc("z")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1]} : (tensor<2x5x3xf32>, none) -> tensor<2x3x5xf32> loc("p")
  %q = "tpu.Permute"(%z, %n) {order = [0, 2, 1]} : (tensor<2x5x3xf32>, none) -> tensor<2x3x5xf32> loc("q")
  %a = "tpu.Reshape"(%p) {shape = [1, 30]} : (tensor<2x3x5xf32>) -> tensor<1x30xf32> loc("a")
  %b = "tpu.Reshape"(%q) {shape = [30, 1]} : (tensor<2x3x5xf32>) -> tensor<30x1xf32> loc("b")
  %s = "tpu.Add"(%a, %b) : (tensor<1x30xf32>, tensor<30x1xf32>) -> tensor<30x30xf32> loc("s")
  return %s : tensor<30x30xf32>
}

// CHECK-LABEL: func.func @sum_of_rows_and_columns
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x3x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x3x5xf32>
// CHECK-NEXT: %5 = "tpu.Reshape"(%3){{.*}}-> tensor<1x30xf32>
// CHECK-NEXT: %6 = "tpu.Reshape"(%4){{.*}}-> tensor<30x1xf32>
// CHECK-NEXT: %7 = "tpu.Add"(%5, %6){{.*}}-> tensor<30x30xf32>
// CHECK-NEXT: return %7

// -----

// Refused: different orders, which sizes do not tell.
func.func @sum_equal_sizes(%arg_x: tensor<2x5x5x5xf32>, %arg_z: tensor<2x5x5x5xf32>) -> tensor<2x5x5x5xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x5x5xf32>) -> tensor<2x5x5x5xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<2x5x5x5xf32>) -> tensor<2x5x5x5xf32> loc("z")
  %p = "tpu.Permute"(%x, %n) {order = [0, 3, 1, 2]} : (tensor<2x5x5x5xf32>, none) -> tensor<2x5x5x5xf32> loc("p")
  %q = "tpu.Permute"(%z, %n) {order = [0, 3, 2, 1]} : (tensor<2x5x5x5xf32>, none) -> tensor<2x5x5x5xf32> loc("q")
  %s = "tpu.Add"(%p, %q) : (tensor<2x5x5x5xf32>, tensor<2x5x5x5xf32>) -> tensor<2x5x5x5xf32> loc("s")
  return %s : tensor<2x5x5x5xf32>
}

// CHECK-LABEL: func.func @sum_equal_sizes
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x5x5x5xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%2, %0){{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<2x5x5x5xf32>
// CHECK-NEXT: %5 = "tpu.Add"(%3, %4){{.*}}-> tensor<2x5x5x5xf32>
// CHECK-NEXT: return %5

// -----

// Refused: one of both is repeated.
func.func @around_broadcast(%arg_x: tensor<2x5x3x7xf32>, %arg_z: tensor<1x3x7x5xf32>) -> tensor<2x5x3x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<1x3x7x5xf32>) -> tensor<1x3x7x5xf32> loc("z")
  %p = "tpu.Permute"(%x, %n) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32> loc("p")
  %q = "tpu.Permute"(%z, %n) {order = [0, 2, 3, 1]} : (tensor<1x3x7x5xf32>, none) -> tensor<1x7x5x3xf32> loc("q")
  %s = "tpu.Add"(%p, %q) : (tensor<2x7x5x3xf32>, tensor<1x7x5x3xf32>) -> tensor<2x7x5x3xf32> loc("s")
  %r = "tpu.Permute"(%s, %n) {order = [0, 2, 3, 1]} : (tensor<2x7x5x3xf32>, none) -> tensor<2x5x3x7xf32> loc("r")
  %y = "tpu.MinConst"(%r) {const_val = 1.0 : f64} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("y")
  return %y : tensor<2x5x3x7xf32>
}

// CHECK-LABEL: func.func @around_broadcast
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<1x7x5x3xf32>
// CHECK-NEXT: %5 = "tpu.Add"(%3, %4){{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %6 = "tpu.Permute"(%5, %0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %7 = "tpu.MinConst"(%6){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %7

// -----

// Refused: a third value is not permuted.
func.func @weight_of_three(%arg_x: tensor<2x5x3x7xf32>, %arg_v: tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %v = "top.Input"(%arg_v) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("v")
  %w = "top.Weight"() : () -> tensor<1x3x5x7xf32> loc("bias3")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %s = "tpu.Add"(%p, %w, %v) : (tensor<2x3x5x7xf32>, tensor<1x3x5x7xf32>, tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("s")
  return %s : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @weight_of_three
// CHECK: %4 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: %5 = "tpu.Add"(%4, %3, %2){{.*}}-> tensor<2x3x5x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the Permute is there for something else anyway.
func.func @fuse_used(%arg_x: tensor<2x5x3x7xf32>) -> (tensor<2x5x3x7xf32>, tensor<2x7x5x3xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 3, 1, 2]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x7x5x3xf32> loc("p")
  %q = "tpu.Permute"(%p, %n) {order = [0, 2, 3, 1]} : (tensor<2x7x5x3xf32>, none) -> tensor<2x5x3x7xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("y")
  return %y, %p : tensor<2x5x3x7xf32>, tensor<2x7x5x3xf32>
}

// CHECK-LABEL: func.func @fuse_used
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 3, 1, 2]{{.*}}-> tensor<2x7x5x3xf32>
// CHECK-NEXT: %3 = "tpu.Permute"(%2, %0){{.*}}order = [0, 2, 3, 1]{{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: %4 = "tpu.MinConst"(%3){{.*}}-> tensor<2x5x3x7xf32>
// CHECK-NEXT: return %4, %2
