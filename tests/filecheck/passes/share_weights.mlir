// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --share-weights="least=0" | filecheck %s
// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --share-weights | filecheck %s --check-prefix=SMALL

// Two sums with equal numbers read one weight; a product reads its own.
// CHECK: [[SHARED:%[0-9]+]] = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
// CHECK-NEXT: [[OTHER:%[0-9]+]] = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
// CHECK-NEXT: "top.Add"({{.*}}, [[SHARED]]){{.*}} loc("a")
// CHECK-NEXT: "top.Add"({{.*}}, [[SHARED]]){{.*}} loc("b")
// CHECK-NEXT: "top.Mul"({{.*}}, [[OTHER]]){{.*}} loc("c")
// Few bytes come together with others.
// SMALL-COUNT-3: "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
module {
  func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
    %2 = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
    %3 = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
    %4 = "top.Add"(%0, %1) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("a")
    %5 = "top.Add"(%4, %2) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("b")
    %6 = "top.Mul"(%5, %3) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("c")
    return %6 : tensor<1x4xf32>
  }
}

// -----

// Nothing but ones: equal by chance. A sum with a ReLU is another op than one without.
// CHECK: "top.Weight"() : () -> tensor<1x4xf32> loc("ones_1x4")
// CHECK-NEXT: "top.Weight"() : () -> tensor<1x4xf32> loc("ones_1x4")
// CHECK-NEXT: [[FIRST:%[0-9]+]] = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
// CHECK-NEXT: [[SECOND:%[0-9]+]] = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
// CHECK: "top.Add"({{.*}}, [[FIRST]]){{.*}} loc("c")
// CHECK-NEXT: "top.Add"({{.*}}, [[SECOND]]){{.*}} loc("d")
module {
  func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<1x4xf32> loc("ones_1x4")
    %2 = "top.Weight"() : () -> tensor<1x4xf32> loc("ones_1x4")
    %3 = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
    %4 = "top.Weight"() : () -> tensor<1x4xf32> loc("random_1x4")
    %5 = "top.Add"(%0, %1) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("a")
    %6 = "top.Add"(%5, %2) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("b")
    %7 = "top.Add"(%6, %3) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("c")
    %8 = "top.Add"(%7, %4) {do_relu = true} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("d")
    return %8 : tensor<1x4xf32>
  }
}
