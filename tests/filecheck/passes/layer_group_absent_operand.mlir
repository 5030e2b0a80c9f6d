// RUN: tpu-opt %s --subnet-divide --layer-group --verify-layer-groups | filecheck %s

// An operand behind one that is absent is a moved value: its Load is priced as that of its own place.
// CHECK: "tpu.Permute"
// CHECK: "tpu.Group"
// CHECK-NEXT: "tpu.Load"
// CHECK-NEXT: "tpu.Load"
// CHECK-NEXT: "tpu.Where"
// CHECK-NEXT: "tpu.Relu"
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<6x128x128xf16>, %arg1: tensor<128x6x128xf16>) -> tensor<6x128x128xf16> {
    %n = "top.None"() : () -> none
    %m = "top.Input"(%arg0) : (tensor<6x128x128xf16>) -> tensor<6x128x128xf16> loc("m")
    %x = "top.Input"(%arg1) : (tensor<128x6x128xf16>) -> tensor<128x6x128xf16> loc("x")
    %p = "tpu.Permute"(%x, %n) {order = [1, 0, 2]} : (tensor<128x6x128xf16>, none) -> tensor<6x128x128xf16> loc("p")
    %w = "tpu.Where"(%m, %n, %p, %n) {x_is_const = true, x_const_val = 0.0 : f64, y_is_const = false, y_const_val = 0.0 : f64} : (tensor<6x128x128xf16>, none, tensor<6x128x128xf16>, none) -> tensor<6x128x128xf16> loc("w")
    %y = "tpu.Relu"(%w) {relu_limit = -1.0 : f64} : (tensor<6x128x128xf16>) -> tensor<6x128x128xf16> loc("y")
    return %y : tensor<6x128x128xf16>
  }
}
