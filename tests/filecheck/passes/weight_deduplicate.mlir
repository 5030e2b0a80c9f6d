// RUN: tpu-opt %s --weights %S/Inputs/weights.npz --weight-deduplicate | filecheck %s

// Two ops of the same numbers become the first; other numbers stay, and so does another shape.
// CHECK: [[ONES:%[0-9]+]] = "top.Weight"() : () -> tensor<1x4xf32> loc("ones_1x4")
// CHECK-NOT: loc("ones_1x4")
// CHECK: [[OTHER:%[0-9]+]] = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
// CHECK: [[SHAPED:%[0-9]+]] = "top.Weight"() : () -> tensor<4xf32> loc("ones_4")
// CHECK: "top.Add"({{.*}}, [[ONES]]){{.*}} loc("a")
// CHECK: "top.Mul"({{.*}}, [[ONES]]){{.*}} loc("b")
// CHECK: "top.Mul"({{.*}}, [[OTHER]]){{.*}} loc("c")
// CHECK: "top.Add"({{.*}}, [[SHAPED]]){{.*}} loc("d")
module {
  func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<1x4xf32> loc("ones_1x4")
    %2 = "top.Weight"() : () -> tensor<1x4xf32> loc("ones_1x4")
    %3 = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
    %4 = "top.Weight"() : () -> tensor<4xf32> loc("ones_4")
    %5 = "top.Add"(%0, %1) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("a")
    %6 = "top.Mul"(%5, %2) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("b")
    %7 = "top.Mul"(%6, %3) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("c")
    %8 = "top.Add"(%7, %4) : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32> loc("d")
    return %8 : tensor<1x4xf32>
  }
}
