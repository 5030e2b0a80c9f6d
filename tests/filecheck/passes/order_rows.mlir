// RUN: tpu-opt %s --split-input-file --order-rows="chip=bm1684x" --no-locations | filecheck %s

// Rows cut into four windows and put back: the norm in front and the sum behind are done by windows, too,
// and one move brings the rows for both.
// CHECK-LABEL: func.func @windows
// CHECK: %[[X:[0-9]+]] = "tpu.MatMul"
// CHECK-NEXT: %[[BY:[0-9]+]] = "tpu.Rearrange"(%[[X]]) {{.*}} -> tensor<1x16x64xf16>
// CHECK-NEXT: %[[N:[0-9]+]] = "tpu.LayerNorm"(%[[BY]]
// CHECK-NEXT: %[[W:[0-9]+]] = "tpu.Reshape"(%[[N]]) {{.*}} -> tensor<4x4x64xf16>
// CHECK-NEXT: "tpu.Softmax"(%[[W]]
// CHECK-NEXT: "tpu.Reshape"({{.*}} -> tensor<1x16x64xf16>
// CHECK-NEXT: %[[SUM:[0-9]+]] = "tpu.Add"(%[[BY]]
// CHECK-NEXT: %[[BACK:[0-9]+]] = "tpu.Rearrange"(%[[SUM]])
// CHECK-NEXT: %[[Y:[0-9]+]] = "tpu.Active"(%[[BACK]])
// CHECK-NEXT: return %[[Y]]
func.func @windows(%x: tensor<1x16x64xf16>) -> tensor<1x16x64xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<1x64x64xf16> loc("w")
  %0 = "tpu.MatMul"(%x, %w, %none, %none, %none) : (tensor<1x16x64xf16>, tensor<1x64x64xf16>, none, none, none) -> tensor<1x16x64xf16> loc("made")
  %1 = "tpu.LayerNorm"(%0, %none, %none, %none, %none) {axis = 2 : si32, eps = 1.0e-05 : f64, normalized_shape = [64]} : (tensor<1x16x64xf16>, none, none, none, none) -> tensor<1x16x64xf16> loc("norm")
  %2 = "tpu.Reshape"(%1) {shape = [2, 2, 2, 2, 64]} : (tensor<1x16x64xf16>) -> tensor<2x2x2x2x64xf16> loc("lines")
  %3 = "tpu.Permute"(%2, %none) {order = [0, 2, 1, 3, 4]} : (tensor<2x2x2x2x64xf16>, none) -> tensor<2x2x2x2x64xf16> loc("cut")
  %4 = "tpu.Reshape"(%3) {shape = [4, 4, 64]} : (tensor<2x2x2x2x64xf16>) -> tensor<4x4x64xf16> loc("windows")
  %5 = "tpu.Softmax"(%4, %none, %none, %none, %none, %none) {axis = 1 : si32} : (tensor<4x4x64xf16>, none, none, none, none, none) -> tensor<4x4x64xf16> loc("attention")
  %6 = "tpu.Reshape"(%5) {shape = [2, 2, 2, 2, 64]} : (tensor<4x4x64xf16>) -> tensor<2x2x2x2x64xf16> loc("cut windows")
  %7 = "tpu.Permute"(%6, %none) {order = [0, 2, 1, 3, 4]} : (tensor<2x2x2x2x64xf16>, none) -> tensor<2x2x2x2x64xf16> loc("back")
  %8 = "tpu.Reshape"(%7) {shape = [1, 16, 64]} : (tensor<2x2x2x2x64xf16>) -> tensor<1x16x64xf16> loc("rows")
  %9 = "tpu.Add"(%0, %8) {do_relu = false} : (tensor<1x16x64xf16>, tensor<1x16x64xf16>) -> tensor<1x16x64xf16> loc("sum")
  %10 = "tpu.Active"(%9) {mode = #tpu<active_mode GELU>} : (tensor<1x16x64xf16>) -> tensor<1x16x64xf16> loc("y")
  return %10 : tensor<1x16x64xf16>
}

// -----

// Rows whose columns change places are no rows of the value in another order: nothing happens.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: tpu.Rearrange
// CHECK: return
func.func @columns(%x: tensor<1x16x64xf16>) -> tensor<1x16x64xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %0 = "tpu.Active"(%x) {mode = #tpu<active_mode GELU>} : (tensor<1x16x64xf16>) -> tensor<1x16x64xf16> loc("made")
  %1 = "tpu.Reshape"(%0) {shape = [16, 8, 8]} : (tensor<1x16x64xf16>) -> tensor<16x8x8xf16> loc("parts")
  %2 = "tpu.Permute"(%1, %none) {order = [0, 2, 1]} : (tensor<16x8x8xf16>, none) -> tensor<16x8x8xf16> loc("turned")
  %3 = "tpu.Reshape"(%2) {shape = [1, 16, 64]} : (tensor<16x8x8xf16>) -> tensor<1x16x64xf16> loc("rows")
  %4 = "tpu.Add"(%0, %3) {do_relu = false} : (tensor<1x16x64xf16>, tensor<1x16x64xf16>) -> tensor<1x16x64xf16> loc("y")
  return %4 : tensor<1x16x64xf16>
}

// -----

// A sum of rows and the rows behind them: one of the two has to be moved, as it is.
// CHECK-LABEL: func.func @both
// CHECK: "tpu.SwapDimInner"
// CHECK-NOT: tpu.Rearrange
// CHECK: return
func.func @both(%x: tensor<1x16x64xf16>) -> tensor<1x16x64xf16> {
  %0 = "tpu.Active"(%x) {mode = #tpu<active_mode GELU>} : (tensor<1x16x64xf16>) -> tensor<1x16x64xf16> loc("made")
  %1 = "tpu.SwapDimInner"(%0) {offset = [0, 3, 0]} : (tensor<1x16x64xf16>) -> tensor<1x16x64xf16> loc("behind")
  %2 = "tpu.Add"(%0, %1) {do_relu = false} : (tensor<1x16x64xf16>, tensor<1x16x64xf16>) -> tensor<1x16x64xf16> loc("y")
  return %2 : tensor<1x16x64xf16>
}

// -----

// Integers that a cast has made of f16 are the same numbers behind the move, whose type says f32.
// CHECK-LABEL: func.func @integers
// CHECK: %[[X:[0-9]+]] = "tpu.MatMul"
// CHECK-NEXT: %[[BY:[0-9]+]] = "tpu.Rearrange"(%[[X]]) {{.*}} -> tensor<1x16x64xf16>
// CHECK-NEXT: %[[I:[0-9]+]] = "tpu.Cast"(%[[BY]])
// CHECK-NEXT: %[[W:[0-9]+]] = "tpu.Reshape"(%[[I]]) {{.*}} -> tensor<4x4x64x!quant.uniform<i8:f32
// CHECK-NEXT: %[[F:[0-9]+]] = "tpu.Cast"(%[[W]])
// CHECK-NEXT: "tpu.Softmax"(%[[F]]
// CHECK-NEXT: "tpu.Reshape"({{.*}} -> tensor<1x16x64xf16>
// CHECK-NEXT: %[[SUM:[0-9]+]] = "tpu.Add"(%[[BY]]
// CHECK-NEXT: %[[BACK:[0-9]+]] = "tpu.Rearrange"(%[[SUM]])
func.func @integers(%x: tensor<1x16x64xf16>) -> tensor<1x16x64xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<1x64x64xf16> loc("w")
  %0 = "tpu.MatMul"(%x, %w, %none, %none, %none) : (tensor<1x16x64xf16>, tensor<1x64x64xf16>, none, none, none) -> tensor<1x16x64xf16> loc("made")
  %1 = "tpu.Cast"(%0) : (tensor<1x16x64xf16>) -> tensor<1x16x64x!quant.uniform<i8:f16, 0.1>> loc("integers")
  %2 = "tpu.Reshape"(%1) {shape = [2, 2, 2, 2, 64]} : (tensor<1x16x64x!quant.uniform<i8:f16, 0.1>>) -> tensor<2x2x2x2x64x!quant.uniform<i8:f16, 0.1>> loc("lines")
  %3 = "tpu.Permute"(%2, %none) {order = [0, 2, 1, 3, 4]} : (tensor<2x2x2x2x64x!quant.uniform<i8:f16, 0.1>>, none) -> tensor<2x2x2x2x64x!quant.uniform<i8:f32, 0.1>> loc("cut")
  %4 = "tpu.Reshape"(%3) {shape = [4, 4, 64]} : (tensor<2x2x2x2x64x!quant.uniform<i8:f32, 0.1>>) -> tensor<4x4x64x!quant.uniform<i8:f32, 0.1>> loc("windows")
  %5 = "tpu.Cast"(%4) : (tensor<4x4x64x!quant.uniform<i8:f32, 0.1>>) -> tensor<4x4x64xf16> loc("floats")
  %6 = "tpu.Softmax"(%5, %none, %none, %none, %none, %none) {axis = 1 : si32} : (tensor<4x4x64xf16>, none, none, none, none, none) -> tensor<4x4x64xf16> loc("attention")
  %7 = "tpu.Reshape"(%6) {shape = [2, 2, 2, 2, 64]} : (tensor<4x4x64xf16>) -> tensor<2x2x2x2x64xf16> loc("cut windows")
  %8 = "tpu.Permute"(%7, %none) {order = [0, 2, 1, 3, 4]} : (tensor<2x2x2x2x64xf16>, none) -> tensor<2x2x2x2x64xf16> loc("back")
  %9 = "tpu.Reshape"(%8) {shape = [1, 16, 64]} : (tensor<2x2x2x2x64xf16>) -> tensor<1x16x64xf16> loc("rows")
  %10 = "tpu.Add"(%0, %9) {do_relu = false} : (tensor<1x16x64xf16>, tensor<1x16x64xf16>) -> tensor<1x16x64xf16> loc("sum")
  %11 = "tpu.Active"(%10) {mode = #tpu<active_mode GELU>} : (tensor<1x16x64xf16>) -> tensor<1x16x64xf16> loc("y")
  return %11 : tensor<1x16x64xf16>
}

// -----

// Integers of another step would be other numbers: what gives them is no move of rows.
// CHECK-LABEL: func.func @another_step
// CHECK-NOT: tpu.Rearrange
// CHECK: return
func.func @another_step(%x: tensor<1x16x64xf16>) -> tensor<1x16x64xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %0 = "tpu.Cast"(%x) : (tensor<1x16x64xf16>) -> tensor<1x16x64x!quant.uniform<i8:f16, 0.1>> loc("integers")
  %1 = "tpu.Reshape"(%0) {shape = [2, 2, 2, 2, 64]} : (tensor<1x16x64x!quant.uniform<i8:f16, 0.1>>) -> tensor<2x2x2x2x64x!quant.uniform<i8:f16, 0.1>> loc("lines")
  %2 = "tpu.Permute"(%1, %none) {order = [0, 2, 1, 3, 4]} : (tensor<2x2x2x2x64x!quant.uniform<i8:f16, 0.1>>, none) -> tensor<2x2x2x2x64x!quant.uniform<i8:f32, 0.2>> loc("cut")
  %3 = "tpu.Reshape"(%2) {shape = [1, 16, 64]} : (tensor<2x2x2x2x64x!quant.uniform<i8:f32, 0.2>>) -> tensor<1x16x64x!quant.uniform<i8:f32, 0.2>> loc("rows")
  %4 = "tpu.Cast"(%3) : (tensor<1x16x64x!quant.uniform<i8:f32, 0.2>>) -> tensor<1x16x64xf16> loc("floats")
  %5 = "tpu.Add"(%x, %4) {do_relu = false} : (tensor<1x16x64xf16>, tensor<1x16x64xf16>) -> tensor<1x16x64xf16> loc("sum")
  return %5 : tensor<1x16x64xf16>
}
