// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s

// MoveRowsBehindProduct: heads are moved from where the rows were.

func.func @heads(%arg0: tensor<2x3x8xf32>) -> tensor<2x4x3x2xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %2 = "top.Weight"() : () -> tensor<8x8xf32> loc("w")
  %3 = "top.Permute"(%1) {order = [1, 0, 2]} : (tensor<2x3x8xf32>) -> tensor<3x2x8xf32>
  %4 = "top.MatMul"(%3, %2, %0) : (tensor<3x2x8xf32>, tensor<8x8xf32>, none) -> tensor<3x2x8xf32>
  %5 = "top.Reshape"(%4) {shape = [3, 8, 2]} : (tensor<3x2x8xf32>) -> tensor<3x8x2xf32>
  %6 = "top.Permute"(%5) {order = [1, 0, 2]} : (tensor<3x8x2xf32>) -> tensor<8x3x2xf32>
  %7 = "top.Reshape"(%6) {shape = [2, 4, 3, 2]} : (tensor<8x3x2xf32>) -> tensor<2x4x3x2xf32>
  %8 = "top.Abs"(%7) : (tensor<2x4x3x2xf32>) -> tensor<2x4x3x2xf32>
  return %8 : tensor<2x4x3x2xf32>
}

// CHECK-LABEL: func.func @heads
// CHECK: %3 = "top.MatMul"(%1, %2, %0){{.*}}-> tensor<2x3x8xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<2x3x4x2xf32>
// CHECK-NEXT: %5 = "top.Permute"(%4){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x4x3x2xf32>
// CHECK-NEXT: %6 = "top.Abs"(%5)

// -----

// What the rows' Permute gives is read by another op, too: it stays.
func.func @also_read(%arg0: tensor<2x3x8xf32>) -> (tensor<8x3x2xf32>, tensor<3x2x8xf32>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %2 = "top.Weight"() : () -> tensor<8x8xf32> loc("w")
  %3 = "top.Permute"(%1) {order = [1, 0, 2]} : (tensor<2x3x8xf32>) -> tensor<3x2x8xf32>
  %4 = "top.MatMul"(%3, %2, %0) : (tensor<3x2x8xf32>, tensor<8x8xf32>, none) -> tensor<3x2x8xf32>
  %5 = "top.Reshape"(%4) {shape = [3, 8, 2]} : (tensor<3x2x8xf32>) -> tensor<3x8x2xf32>
  %6 = "top.Permute"(%5) {order = [1, 0, 2]} : (tensor<3x8x2xf32>) -> tensor<8x3x2xf32>
  %7 = "top.Abs"(%6) : (tensor<8x3x2xf32>) -> tensor<8x3x2xf32>
  %8 = "top.Abs"(%3) : (tensor<3x2x8xf32>) -> tensor<3x2x8xf32>
  return %7, %8 : tensor<8x3x2xf32>, tensor<3x2x8xf32>
}

// CHECK-LABEL: func.func @also_read
// CHECK: "top.Permute"(%1){{.*}}order = [1, 0, 2]
// CHECK: "top.MatMul"{{.*}}-> tensor<3x2x8xf32>

// -----

// MoveRowsBeforeProduct: heads go where the rows will be.

func.func @projection(%arg0: tensor<2x4x3x2xf32>) -> tensor<2x3x8xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x4x3x2xf32>) -> tensor<2x4x3x2xf32>
  %2 = "top.Weight"() : () -> tensor<8x8xf32> loc("w")
  %3 = "top.Abs"(%1) : (tensor<2x4x3x2xf32>) -> tensor<2x4x3x2xf32>
  %4 = "top.Permute"(%3) {order = [2, 0, 1, 3]} : (tensor<2x4x3x2xf32>) -> tensor<3x2x4x2xf32>
  %5 = "top.Reshape"(%4) {shape = [6, 8]} : (tensor<3x2x4x2xf32>) -> tensor<6x8xf32>
  %6 = "top.MatMul"(%5, %2, %0) : (tensor<6x8xf32>, tensor<8x8xf32>, none) -> tensor<6x8xf32>
  %7 = "top.Reshape"(%6) {shape = [3, 2, 8]} : (tensor<6x8xf32>) -> tensor<3x2x8xf32>
  %8 = "top.Permute"(%7) {order = [1, 0, 2]} : (tensor<3x2x8xf32>) -> tensor<2x3x8xf32>
  %9 = "top.Abs"(%8) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %9 : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @projection
// CHECK: %4 = "top.Permute"(%3){{.*}}order = [0, 2, 1, 3]{{.*}}-> tensor<2x3x4x2xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<2x3x8xf32>
// CHECK-NEXT: %6 = "top.MatMul"(%5, %2, %0){{.*}}-> tensor<2x3x8xf32>
// CHECK-NEXT: %7 = "top.Abs"(%6)
