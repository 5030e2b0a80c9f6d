// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// The largest of the rows of each set, of a product that sums over few.

func.func @sets(%arg_x: tensor<5x4x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<5x4x8xf32>) -> tensor<5x4x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x256xf32> loc("random_8x256")
  %m = "top.MatMul"(%x, %w, %none) : (tensor<5x4x8xf32>, tensor<8x256xf32>, none) -> tensor<*xf32> loc("m")
  %y = "top.Reduce"(%m) {axes = [1], keepdims = false, mode = "ReduceMax"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @sets
// CHECK: [[TURNED:%.*]] = "top.Permute"({{.*}} -> tensor<1x8x20xf32>
// CHECK: [[IMAGE:%.*]] = "top.Reshape"([[TURNED]]){{.*}} -> tensor<1x8x5x4xf32>
// CHECK: [[COLUMNS:%.*]] = "top.Conv"([[IMAGE]]{{.*}} -> tensor<1x256x5x4xf32>
// CHECK: "top.Reduce"([[COLUMNS]]) {axes = [3]{{.*}}"ReduceMax"{{.*}} -> tensor<1x256x5xf32>
