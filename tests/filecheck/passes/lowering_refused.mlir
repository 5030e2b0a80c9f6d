// RUN: not tpu-opt %s --convert-top-to-tpu="mode=F16 chip=bm1684x" 2>&1 | filecheck %s
// RUN: not tpu-opt %s --convert-top-to-tpu="mode=INT8 chip=bm1684x" 2>&1 | filecheck %s --check-prefix=INT8
// RUN: not tpu-opt %s --convert-top-to-tpu="mode=F16 chip=bm1690" 2>&1 | filecheck %s --check-prefix=CHIP
// RUN: not tpu-opt %s --convert-top-to-tpu="mode=INT4 chip=bm1684x" 2>&1 | filecheck %s --check-prefix=INT4
// RUN: not tpu-opt %s --convert-top-to-tpu 2>&1 | filecheck %s --check-prefix=MODE

// Everything that cannot be lowered is listed at once.
// CHECK: 2 ops cannot be lowered to tpu:
// CHECK-NEXT: top.Csc 'first': no lowering
// CHECK-NEXT: top.Slice 'cut': its bounds are not constant
// CHECK-NOT: Traceback
// INT8: INT8 needs a calibrated network; give tpu-compile a --calibration-table, or run --import-calibration-table="file=TABLE" first
// INT4: mode INT4 is not supported; use F32, F16, BF16, INT8
// CHIP: chip bm1690 is not supported; use bm1684x, bm1688
// MODE: give mode=F32|F16|BF16|INT8 or run --processor-assign first
module @net attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x8xf32>, %arg1: tensor<2xf32>) -> tensor<1x4xf32> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<2xf32>) -> tensor<2xf32> loc("start")
    %2 = "top.Csc"(%0) {pixel_format = "rgb", aligned = true, y_align = 1 : i64, w_align = 1 : i64, channel_align = 1 : i64} : (tensor<1x8xf32>) -> tensor<1x8xf32> loc("first")
    %3 = "top.Slice"(%2, %1, %n, %n) {offset = [0, 0], ends = [1, 4], steps = [1, 1]} : (tensor<1x8xf32>, tensor<2xf32>, none, none) -> tensor<1x4xf32> loc("cut")
    return %3 : tensor<1x4xf32>
  }
}
