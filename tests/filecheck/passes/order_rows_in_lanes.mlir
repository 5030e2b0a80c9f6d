// RUN: tpu-opt %s --split-input-file --order-rows="chip=bm1684x in_lanes=true" --no-locations | filecheck %s

// Small values change their order in local memory: nothing is done by windows that need not be.
// CHECK-LABEL: func.func @windows
// CHECK: "tpu.MatMul"
// CHECK-NEXT: "tpu.LayerNorm"
// CHECK-NOT: tpu.Rearrange
// CHECK: return
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

// A value that does not fit into local memory four times leaves it, once instead of twice.
// CHECK-LABEL: func.func @large
// CHECK: "tpu.MatMul"
// CHECK-NEXT: "tpu.Rearrange"
// CHECK-NEXT: "tpu.LayerNorm"
func.func @large(%x: tensor<1x65536x64xf16>) -> tensor<1x65536x64xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<1x64x64xf16> loc("w")
  %0 = "tpu.MatMul"(%x, %w, %none, %none, %none) : (tensor<1x65536x64xf16>, tensor<1x64x64xf16>, none, none, none) -> tensor<1x65536x64xf16> loc("made")
  %1 = "tpu.LayerNorm"(%0, %none, %none, %none, %none) {axis = 2 : si32, eps = 1.0e-05 : f64, normalized_shape = [64]} : (tensor<1x65536x64xf16>, none, none, none, none) -> tensor<1x65536x64xf16> loc("norm")
  %2 = "tpu.Reshape"(%1) {shape = [128, 2, 128, 2, 64]} : (tensor<1x65536x64xf16>) -> tensor<128x2x128x2x64xf16> loc("lines")
  %3 = "tpu.Permute"(%2, %none) {order = [0, 2, 1, 3, 4]} : (tensor<128x2x128x2x64xf16>, none) -> tensor<128x128x2x2x64xf16> loc("cut")
  %4 = "tpu.Reshape"(%3) {shape = [16384, 4, 64]} : (tensor<128x128x2x2x64xf16>) -> tensor<16384x4x64xf16> loc("windows")
  %5 = "tpu.Softmax"(%4, %none, %none, %none, %none, %none) {axis = 1 : si32} : (tensor<16384x4x64xf16>, none, none, none, none, none) -> tensor<16384x4x64xf16> loc("attention")
  %6 = "tpu.Reshape"(%5) {shape = [128, 128, 2, 2, 64]} : (tensor<16384x4x64xf16>) -> tensor<128x128x2x2x64xf16> loc("cut windows")
  %7 = "tpu.Permute"(%6, %none) {order = [0, 2, 1, 3, 4]} : (tensor<128x128x2x2x64xf16>, none) -> tensor<128x2x128x2x64xf16> loc("back")
  %8 = "tpu.Reshape"(%7) {shape = [1, 65536, 64]} : (tensor<128x2x128x2x64xf16>) -> tensor<1x65536x64xf16> loc("rows")
  %9 = "tpu.Add"(%0, %8) {do_relu = false} : (tensor<1x65536x64xf16>, tensor<1x65536x64xf16>) -> tensor<1x65536x64xf16> loc("sum")
  %10 = "tpu.Active"(%9) {mode = #tpu<active_mode GELU>} : (tensor<1x65536x64xf16>) -> tensor<1x65536x64xf16> loc("y")
  return %10 : tensor<1x65536x64xf16>
}

// -----

// Three numbers for each of 256 points: four neighbours in each lane, so that they come and go in long pieces.
// CHECK-LABEL: func.func @points
// CHECK: %[[X:[0-9]+]] = "tpu.Cast"
// CHECK-NEXT: %[[BY:[0-9]+]] = "tpu.Rearrange"(%[[X]]) {{.*}} -> tensor<256x3xf16>
// CHECK-NEXT: %[[Y:[0-9]+]] = "tpu.MatMul"(%[[BY]]
// CHECK-NEXT: %[[BACK:[0-9]+]] = "tpu.Rearrange"(%[[Y]]) {{.*}} -> tensor<256x4xf16>
// CHECK-NEXT: return %[[BACK]]
func.func @points(%arg: tensor<256x3xf32>) -> tensor<256x4xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<3x4xf16> loc("w")
  %x = "top.Input"(%arg) : (tensor<256x3xf32>) -> tensor<256x3xf32> loc("x")
  %0 = "tpu.Cast"(%x) : (tensor<256x3xf32>) -> tensor<256x3xf16> loc("x_f16")
  %1 = "tpu.MatMul"(%0, %w, %none, %none, %none) : (tensor<256x3xf16>, tensor<3x4xf16>, none, none, none) -> tensor<256x4xf16> loc("y")
  return %1 : tensor<256x4xf16>
}

// -----

// Of 255 some lane has more than others.
// CHECK-LABEL: func.func @uneven
// CHECK-NOT: tpu.Rearrange
// CHECK: return
func.func @uneven(%arg: tensor<255x3xf32>) -> tensor<255x4xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<3x4xf16> loc("w")
  %x = "top.Input"(%arg) : (tensor<255x3xf32>) -> tensor<255x3xf32> loc("x")
  %0 = "tpu.Cast"(%x) : (tensor<255x3xf32>) -> tensor<255x3xf16> loc("x_f16")
  %1 = "tpu.MatMul"(%0, %w, %none, %none, %none) : (tensor<255x3xf16>, tensor<3x4xf16>, none, none, none) -> tensor<255x4xf16> loc("y")
  return %1 : tensor<255x4xf16>
}
