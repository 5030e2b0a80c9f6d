// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize --no-locations | filecheck %s

// A scale of columns is part of the product in front of it, and so is the relu.
func.func @columns(%arg_x: tensor<1x3x8xf32>) -> tensor<3x6xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x8xf32>) -> tensor<1x3x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
  %m = "top.MatMul"(%x, %w, %none) : (tensor<1x3x8xf32>, tensor<8x6xf32>, none) -> tensor<1x3x6xf32> loc("m")
  %f = "top.Reshape"(%m) {shape = [3, 6]} : (tensor<1x3x6xf32>) -> tensor<3x6xf32> loc("f")
  %s = "top.Weight"() : () -> tensor<1x6xf32> loc("random_6")
  %t = "top.Weight"() : () -> tensor<1x6xf32> loc("random_6")
  %y = "top.Scale"(%f, %s, %t) {do_relu = true} : (tensor<3x6xf32>, tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<3x6xf32> loc("y")
  return %y : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK: "top.MatMul"({{.*}}do_relu = true{{.*}} : (tensor<1x3x8xf32>, tensor<8x6xf32>, tensor<1x1x6xf32>) -> tensor<1x3x6xf32>
// CHECK-NEXT: "top.Reshape"({{.*}} -> tensor<3x6xf32>
// CHECK-NEXT: return

// -----

// Channels that are rows are not.
func.func @rows(%arg_x: tensor<1x6x8xf32>) -> tensor<1x6x6xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x6x8xf32>) -> tensor<1x6x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x6xf32> loc("random_8x6")
  %m = "top.MatMul"(%x, %w, %none) : (tensor<1x6x8xf32>, tensor<8x6xf32>, none) -> tensor<1x6x6xf32> loc("m")
  %s = "top.Weight"() : () -> tensor<1x6x1xf32> loc("random_6")
  %t = "top.Weight"() : () -> tensor<1x6x1xf32> loc("random_6")
  %y = "top.Scale"(%m, %s, %t) {do_relu = true} : (tensor<1x6x6xf32>, tensor<1x6x1xf32>, tensor<1x6x1xf32>) -> tensor<1x6x6xf32> loc("y")
  return %y : tensor<1x6x6xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: "top.MatMul"({{.*}}, none) -> tensor<1x6x6xf32>
