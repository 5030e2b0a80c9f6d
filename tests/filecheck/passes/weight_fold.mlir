// RUN: tpu-opt %s --weights %S/Inputs/weights.npz --weight-fold | filecheck %s
// RUN: tpu-opt %s --weight-fold | filecheck %s --check-prefix=UNKNOWN

// Of weights alone: known now. With an input beside them, in `top`, and what is returned: later.
// CHECK: "top.Weight"() : () -> tensor<1x4xf16> loc("half_of_them")
// CHECK-NOT: "tpu.Cast"{{.*}} loc("half_of_them")
// CHECK: "tpu.Add"({{.*}} loc("mixed")
// CHECK: "top.Relu"({{.*}} loc("not_lowered")
// CHECK: "tpu.Cast"({{.*}} loc("given")

// Without numbers nothing is known.
// UNKNOWN: "tpu.Cast"({{.*}} loc("half_of_them")
module {
  func.func @main(%arg0: tensor<1x4xf16>) -> (tensor<1x4xf16>, tensor<1x4xf32>, tensor<1x4xf16>) {
    %0 = "top.Input"(%arg0) : (tensor<1x4xf16>) -> tensor<1x4xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
    %2 = "tpu.Cast"(%1) : (tensor<1x4xf32>) -> tensor<1x4xf16> loc("half_of_them")
    %3 = "tpu.Add"(%0, %2) : (tensor<1x4xf16>, tensor<1x4xf16>) -> tensor<1x4xf16> loc("mixed")
    %4 = "top.Relu"(%1) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("not_lowered")
    %5 = "tpu.Cast"(%1) : (tensor<1x4xf32>) -> tensor<1x4xf16> loc("given")
    return %3, %4, %5 : tensor<1x4xf16>, tensor<1x4xf32>, tensor<1x4xf16>
  }
}
