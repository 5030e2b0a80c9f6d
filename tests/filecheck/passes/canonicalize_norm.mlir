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

// -----

// Rows of whole channels are groups of them.
func.func @rows_of_groups(%arg0: tensor<2x6x4x5xf32>) -> tensor<2x6x4x5xf32> {
  %none = "top.None"() : () -> none
  %r = "top.Reshape"(%arg0) {shape = [2, 3, 40]} : (tensor<2x6x4x5xf32>) -> tensor<2x3x40xf32> loc("r")
  %n = "top.LayerNorm"(%r, %none, %none) {axis = 2 : si32, eps = 1.0e-05 : f64, normalized_shape = [40]} : (tensor<2x3x40xf32>, none, none) -> tensor<2x3x40xf32> loc("n")
  %y = "top.Reshape"(%n) {shape = [2, 6, 4, 5]} : (tensor<2x3x40xf32>) -> tensor<2x6x4x5xf32> loc("y")
  return %y : tensor<2x6x4x5xf32>
}

// CHECK-LABEL: func.func @rows_of_groups
// CHECK: [[Y:%.*]] = "top.GroupNorm"(%arg0, {{.*}}num_groups = 3 : i64{{.*}} -> tensor<2x6x4x5xf32>
// CHECK-NEXT: return [[Y]]

// -----

// Parts of channels are none.
func.func @rows_of_parts(%arg0: tensor<2x6x4x5xf32>) -> tensor<2x6x4x5xf32> {
  %none = "top.None"() : () -> none
  %r = "top.Reshape"(%arg0) {shape = [2, 12, 10]} : (tensor<2x6x4x5xf32>) -> tensor<2x12x10xf32> loc("r")
  %n = "top.LayerNorm"(%r, %none, %none) {axis = 2 : si32, eps = 1.0e-05 : f64, normalized_shape = [10]} : (tensor<2x12x10xf32>, none, none) -> tensor<2x12x10xf32> loc("n")
  %y = "top.Reshape"(%n) {shape = [2, 6, 4, 5]} : (tensor<2x12x10xf32>) -> tensor<2x6x4x5xf32> loc("y")
  return %y : tensor<2x6x4x5xf32>
}

// CHECK-LABEL: func.func @rows_of_parts
// CHECK: "top.LayerNorm"
