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
