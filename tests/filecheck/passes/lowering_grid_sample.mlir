// RUN: tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F16 chip=bm1684x" --no-locations | filecheck %s

// Images of positions are read as they lie, not put last and taken apart; what two samplers look at is turned once.
// CHECK-LABEL: func.func @main
// CHECK: "tpu.Slice"(%{{[0-9]+}}, {{.*}}ends = [1, 1, 8, 8]{{.*}} -> tensor<1x1x8x8xf32>
// CHECK: "tpu.Slice"(%{{[0-9]+}}, {{.*}}ends = [1, 2, 8, 8]{{.*}} -> tensor<1x1x8x8xf32>
// CHECK: "tpu.Permute"{{.*}} : (tensor<1x3x64xf16>, none) -> tensor<1x64x3xf16>
// CHECK-NOT: "tpu.Permute"{{.*}} -> tensor<1x64x3xf16>
// CHECK: return
module @images attributes {module.state = "TOP_F32"} {
  func.func @main(%a: tensor<1x3x8x8xf32>, %b: tensor<1x2x8x8xf32>, %c: tensor<1x8x8x2xf32>) -> (tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%a) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
    %1 = "top.Input"(%b) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32> loc("flow")
    %2 = "top.Input"(%c) : (tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32> loc("grid")
    %3 = "top.Permute"(%1) {order = [0, 2, 3, 1]} : (tensor<1x2x8x8xf32>) -> tensor<1x8x8x2xf32> loc("last")
    %4 = "top.GridSampler"(%0, %3) {align_corners = true, mode = 0 : i64, padding_mode = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<1x8x8x2xf32>) -> tensor<1x3x8x8xf32> loc("y")
    %5 = "top.GridSampler"(%0, %2) {align_corners = true, mode = 0 : i64, padding_mode = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<1x8x8x2xf32>) -> tensor<1x3x8x8xf32> loc("z")
    return %4, %5 : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>
  }
}
