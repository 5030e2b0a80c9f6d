// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --canonicalize --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --canonicalize="disable=ZerosToPad" --no-locations | filecheck %s --check-prefix=OFF

// CHECK-LABEL: func.func @before_and_behind
// CHECK: "top.Pad"{{.*}}mode = "constant", paddings = [4, 0, 5, 0], val = 0.0{{.*}} -> tensor<12x8xf32>
// OFF-LABEL: func.func @before_and_behind
// OFF: "top.Concat"
func.func @before_and_behind(%x: tensor<3x8xf32>) -> tensor<12x8xf32> {
  %0 = "top.Input"(%x) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("x")
  %a = "top.Weight"() : () -> tensor<4x8xf32> loc("zeros_4x8")
  %b = "top.Weight"() : () -> tensor<1x8xf32> loc("zeros_1x8")
  %1 = "top.Concat"(%a, %0, %a, %b) {axis = 0 : si32} : (tensor<4x8xf32>, tensor<3x8xf32>, tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<12x8xf32> loc("y")
  return %1 : tensor<12x8xf32>
}

// -----

// Ones are no zeros.
// CHECK-LABEL: func.func @ones
// CHECK: "top.Concat"
func.func @ones(%x: tensor<1x3xf32>) -> tensor<1x7xf32> {
  %0 = "top.Input"(%x) : (tensor<1x3xf32>) -> tensor<1x3xf32> loc("x")
  %a = "top.Weight"() : () -> tensor<1x4xf32> loc("ones_1x4")
  %1 = "top.Concat"(%a, %0) {axis = 1 : si32} : (tensor<1x4xf32>, tensor<1x3xf32>) -> tensor<1x7xf32> loc("y")
  return %1 : tensor<1x7xf32>
}

// -----

// Two values are joined, whatever is around them.
// CHECK-LABEL: func.func @two
// CHECK: "top.Concat"
func.func @two(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>) -> tensor<7x8xf32> {
  %0 = "top.Input"(%x) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("x")
  %1 = "top.Input"(%y) : (tensor<3x8xf32>) -> tensor<3x8xf32> loc("z")
  %b = "top.Weight"() : () -> tensor<1x8xf32> loc("zeros_1x8")
  %2 = "top.Concat"(%0, %b, %1) {axis = 0 : si32} : (tensor<3x8xf32>, tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<7x8xf32> loc("y")
  return %2 : tensor<7x8xf32>
}
