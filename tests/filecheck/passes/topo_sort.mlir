// RUN: tpu-opt %s --split-input-file --topo-sort | filecheck %s
// RUN: tpu-opt %s --split-input-file --topo-sort="depth_first=false" | filecheck %s --check-prefix=WIDE

// One branch ends, in a small value, before the other one begins; the weight goes with its user.
// CHECK-LABEL: module @branches
// CHECK: loc("big1")
// CHECK-NEXT: "top.None"
// CHECK-NEXT: loc("small1")
// CHECK: "top.Weight"
// CHECK-NEXT: loc("big2")
// CHECK-NEXT: loc("small2")
// The order by distance has no smaller peak, so the one of the text stays.
// WIDE-LABEL: module @branches
// WIDE: loc("w")
// WIDE-NEXT: loc("big1")
// WIDE-NEXT: loc("big2")
module @branches {
  func.func @main(%arg0: tensor<1x64xf32>) -> tensor<1x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x64xf32>) -> tensor<1x64xf32> loc("x")
    %n = "top.None"() : () -> none
    %w = "top.Weight"() : () -> tensor<1x64xf32> loc("w")
    %1 = "top.Relu"(%0) : (tensor<1x64xf32>) -> tensor<1x64xf32> loc("big1")
    %2 = "top.Add"(%0, %w) : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32> loc("big2")
    %3 = "top.Slice"(%1, %n, %n, %n) {offset = [0, 0], steps = [1, 1], ends = [1, 4]} : (tensor<1x64xf32>, none, none, none) -> tensor<1x4xf32> loc("small1")
    %4 = "top.Slice"(%2, %n, %n, %n) {offset = [0, 4], steps = [1, 1], ends = [1, 8]} : (tensor<1x64xf32>, none, none, none) -> tensor<1x4xf32> loc("small2")
    %5 = "top.Add"(%3, %4) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("y")
    return %5 : tensor<1x4xf32>
  }
}

// -----

// A chain has one order only.
// CHECK-LABEL: module @chain
// CHECK: loc("a")
// CHECK-NEXT: loc("b")
module @chain {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("a")
    %2 = "top.Relu"(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
    return %2 : tensor<4xf32>
  }
}
