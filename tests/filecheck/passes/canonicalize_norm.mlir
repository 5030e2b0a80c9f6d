// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s

// The positions of a channel are a group of one channel.
// CHECK-LABEL: func.func @instance
// CHECK: [[W:%.+]] = "top.Weight"() : () -> tensor<1x4x1x1xf32>
// CHECK: "top.GroupNorm"({{%.+}}, [[W]], {{%.+}}) {eps = 1.000000e-05 : f64, num_groups = 4 : i64}
// CHECK-NOT: top.InstanceNorm
func.func @instance(%arg0: tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4xf32> loc("w")
  %y = "top.InstanceNorm"(%x, %w, %none) {eps = 1.0e-05 : f64} : (tensor<2x4x8x8xf32>, tensor<4xf32>, none) -> tensor<2x4x8x8xf32> loc("y")
  return %y : tensor<2x4x8x8xf32>
}

// -----

// Without weights, of sequences; a norm of other groups stays.
// CHECK-LABEL: func.func @sequence
// CHECK: [[Y:%.+]] = "top.GroupNorm"([[X:%.+]], [[N:%.+]], [[N]]) {eps = 1.000000e-05 : f64, num_groups = 6 : i64}
// CHECK-NEXT: "top.GroupNorm"([[Y]], [[N]], [[N]]) {eps = 1.000000e-05 : f64, num_groups = 2 : i64}
func.func @sequence(%arg0: tensor<1x6x9xf32>) -> tensor<1x6x9xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x6x9xf32>) -> tensor<1x6x9xf32> loc("x")
  %y = "top.InstanceNorm"(%x, %none, %none) {eps = 1.0e-05 : f64} : (tensor<1x6x9xf32>, none, none) -> tensor<1x6x9xf32> loc("y")
  %z = "top.GroupNorm"(%y, %none, %none) {eps = 1.0e-05 : f64, num_groups = 2 : i64} : (tensor<1x6x9xf32>, none, none) -> tensor<1x6x9xf32> loc("z")
  return %z : tensor<1x6x9xf32>
}
