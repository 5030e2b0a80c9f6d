// RUN: tpu-opt %s --subnet-divide --layer-group --report-transposes 2>&1 >/dev/null | filecheck %s
// RUN: tpu-opt %s --subnet-divide --report-transposes 2>&1 >/dev/null | filecheck %s --check-prefix=DDR

// A Permute that stands in a group moves no bytes of DDR, and costs its commands; one that has no
// local form stands between groups. Without groups both go through DDR.
// CHECK: {{[0-9,]+}} 0 tpu.Permute 1x96x56x28 [0, 2, 3, 1] 'inside'
// CHECK-NEXT: in local memory, inside a group; channels first to last or back: Relu and MulConst have no form for the other
// CHECK-NEXT: {{[0-9,]+}} 301,056 tpu.Permute 1x56x28x96 [0, 1, 3, 2] 'outside'
// CHECK-NEXT: {{^ +}}channels first to last or back: MulConst and Relu have no form for the other
// CHECK-NEXT: {{[0-9,]+}} 301,056 2 ops, 2 of them Permutes; 1 in local memory
// DDR: {{[0-9,]+}} 301,056 tpu.Permute 1x96x56x28 [0, 2, 3, 1] 'inside'
// DDR-NEXT: channels first to last or back: Relu and MulConst have no form for the other
// DDR-NEXT: {{[0-9,]+}} 301,056 tpu.Permute 1x56x28x96 [0, 1, 3, 2] 'outside'
// DDR: {{[0-9,]+}} 602,112 2 ops, 2 of them Permutes
// DDR-NOT: local memory
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x96x56x28xf16>) -> tensor<1x56x96x28xf16> {
    %none = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x96x56x28xf16>) -> tensor<1x96x56x28xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x96x56x28xf16>) -> tensor<1x96x56x28xf16> loc("a")
    %2 = "tpu.Permute"(%1, %none) {order = [0, 2, 3, 1]} : (tensor<1x96x56x28xf16>, none) -> tensor<1x56x28x96xf16> loc("inside")
    %3 = "tpu.MulConst"(%2) {const_val = 2.0 : f64} : (tensor<1x56x28x96xf16>) -> tensor<1x56x28x96xf16> loc("b")
    %4 = "tpu.Permute"(%3, %none) {order = [0, 1, 3, 2]} : (tensor<1x56x28x96xf16>, none) -> tensor<1x56x96x28xf16> loc("outside")
    %5 = "tpu.Relu"(%4) : (tensor<1x56x96x28xf16>) -> tensor<1x56x96x28xf16> loc("y")
    return %5 : tensor<1x56x96x28xf16>
  }
}
