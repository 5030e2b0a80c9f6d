// RUN: tpu-opt %s --subnet-divide --merge-moves | filecheck %s

// What would have changed lanes in a layer group and is in none is a view in DDR; a part of a value
// is not.
// CHECK: "tpu.Relu"
// CHECK-NEXT: "tpu.Reshape"({{.*}} : (tensor<1x1024x49xf16>) -> tensor<8x128x49xf16>
// CHECK-NEXT: "tpu.Relu"
// CHECK-NEXT: "tpu.Rearrange"({{.*}} : (tensor<8x128x49xf16>) -> tensor<4x128x49xf16>
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x1024x49xf16>) -> tensor<4x128x49xf16> {
    %x = "top.Input"(%arg0) : (tensor<1x1024x49xf16>) -> tensor<1x1024x49xf16> loc("x")
    %a = "tpu.Relu"(%x) : (tensor<1x1024x49xf16>) -> tensor<1x1024x49xf16> loc("a")
    %b = "tpu.Rearrange"(%a) {boxes = [0, 0, 0, 1, 50176, 1, 1], in_lanes = true} : (tensor<1x1024x49xf16>) -> tensor<8x128x49xf16> loc("b")
    %c = "tpu.Relu"(%b) : (tensor<8x128x49xf16>) -> tensor<8x128x49xf16> loc("c")
    %d = "tpu.Rearrange"(%c) {boxes = [0, 0, 0, 1, 25088, 1, 1], in_lanes = true} : (tensor<8x128x49xf16>) -> tensor<4x128x49xf16> loc("d")
    %y = "tpu.Relu"(%d) : (tensor<4x128x49xf16>) -> tensor<4x128x49xf16> loc("y")
    return %y : tensor<4x128x49xf16>
  }
}
