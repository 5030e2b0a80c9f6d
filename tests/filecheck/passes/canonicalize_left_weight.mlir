// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --canonicalize --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --canonicalize="disable=LeftWeightToRight" --no-locations | filecheck %s --check-prefix=OFF

// Rows of 32 channels are mixed as columns.
// CHECK-LABEL: func.func @channels
// CHECK: [[W:%[0-9]+]] = "top.Weight"() : () -> tensor<4x8xf32>
// CHECK-NEXT: [[X:%[0-9]+]] = "top.Permute"(%{{[0-9]+}}) {order = [0, 1, 3, 2]} : (tensor<1x32x4x6xf32>) -> tensor<1x32x6x4xf32>
// CHECK-NEXT: [[P:%[0-9]+]] = "top.MatMul"([[X]], [[W]], {{.*}} -> tensor<1x32x6x8xf32>
// CHECK-NEXT: "top.Permute"([[P]]) {order = [0, 1, 3, 2]} : (tensor<1x32x6x8xf32>) -> tensor<1x32x8x6xf32>
// OFF-LABEL: func.func @channels
// OFF-NOT: top.Permute
func.func @channels(%x: tensor<1x32x4x6xf32>) -> tensor<1x32x8x6xf32> {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%x) : (tensor<1x32x4x6xf32>) -> tensor<1x32x4x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x4xf32> loc("random_8x4")
  %1 = "top.MatMul"(%w, %0, %n) : (tensor<8x4xf32>, tensor<1x32x4x6xf32>, none) -> tensor<1x32x8x6xf32> loc("y")
  return %1 : tensor<1x32x8x6xf32>
}

// -----

// One channel less leaves more than half of the lanes empty.
// CHECK-LABEL: func.func @few_channels
// CHECK-NOT: top.Permute
func.func @few_channels(%x: tensor<1x31x4x6xf32>) -> tensor<1x31x8x6xf32> {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%x) : (tensor<1x31x4x6xf32>) -> tensor<1x31x4x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x4xf32> loc("random_8x4")
  %1 = "top.MatMul"(%w, %0, %n) : (tensor<8x4xf32>, tensor<1x31x4x6xf32>, none) -> tensor<1x31x8x6xf32> loc("y")
  return %1 : tensor<1x31x8x6xf32>
}

// -----

// A matrix that is computed stays where it is.
// CHECK-LABEL: func.func @computed
// CHECK-NOT: top.Permute
func.func @computed(%x: tensor<1x32x4x6xf32>, %m: tensor<8x4xf32>) -> tensor<1x32x8x6xf32> {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%x) : (tensor<1x32x4x6xf32>) -> tensor<1x32x4x6xf32> loc("x")
  %1 = "top.Input"(%m) : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("m")
  %2 = "top.MatMul"(%1, %0, %n) : (tensor<8x4xf32>, tensor<1x32x4x6xf32>, none) -> tensor<1x32x8x6xf32> loc("y")
  return %2 : tensor<1x32x8x6xf32>
}
