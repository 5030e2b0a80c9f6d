// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --canonicalize --no-locations | filecheck %s

// The mask of shifted windows, of which each of two images has eight.
func.func @images(%arg_x: tensor<16x3x5x5xf32>) -> tensor<16x3x5x5xf32> {
  %x = "top.Input"(%arg_x) : (tensor<16x3x5x5xf32>) -> tensor<16x3x5x5xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x8x1x5x5xf32> loc("random_1x8x1x5x5")
  %a = "top.Reshape"(%x) : (tensor<16x3x5x5xf32>) -> tensor<2x8x3x5x5xf32> loc("a")
  %b = "top.Add"(%a, %w) : (tensor<2x8x3x5x5xf32>, tensor<1x8x1x5x5xf32>) -> tensor<2x8x3x5x5xf32> loc("b")
  %c = "top.Reshape"(%b) : (tensor<2x8x3x5x5xf32>) -> tensor<16x3x5x5xf32> loc("c")
  return %c : tensor<16x3x5x5xf32>
}

// CHECK-LABEL: func.func @images
// CHECK: [[W:%.*]] = "top.Weight"() : () -> tensor<16x1x5x5xf32>
// CHECK-NEXT: [[Y:%.*]] = "top.Add"({{%.*}}, [[W]]){{.*}} -> tensor<16x3x5x5xf32>
// CHECK-NEXT: return [[Y]]

// -----

// One image: its windows are the first dimension, once that of size 1 is gone.
func.func @one_image(%arg_x: tensor<8x3x5x5xf32>) -> tensor<1x8x3x5x5xf32> {
  %x = "top.Input"(%arg_x) : (tensor<8x3x5x5xf32>) -> tensor<8x3x5x5xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x8x1x5x5xf32> loc("random_1x8x1x5x5")
  %a = "top.Reshape"(%x) : (tensor<8x3x5x5xf32>) -> tensor<1x8x3x5x5xf32> loc("a")
  %b = "top.Add"(%a, %w) : (tensor<1x8x3x5x5xf32>, tensor<1x8x1x5x5xf32>) -> tensor<1x8x3x5x5xf32> loc("b")
  return %b : tensor<1x8x3x5x5xf32>
}

// CHECK-LABEL: func.func @one_image
// CHECK: "top.Add"{{.*}} -> tensor<1x8x3x5x5xf32>

// -----

// What is seen as images of windows has others readers, too.
func.func @shared(%arg_x: tensor<16x3x5x5xf32>) -> (tensor<2x8x3x5x5xf32>, tensor<2x8x3x5x5xf32>) {
  %x = "top.Input"(%arg_x) : (tensor<16x3x5x5xf32>) -> tensor<16x3x5x5xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<1x8x1x5x5xf32> loc("random_1x8x1x5x5")
  %a = "top.Reshape"(%x) : (tensor<16x3x5x5xf32>) -> tensor<2x8x3x5x5xf32> loc("a")
  %b = "top.Add"(%a, %w) : (tensor<2x8x3x5x5xf32>, tensor<1x8x1x5x5xf32>) -> tensor<2x8x3x5x5xf32> loc("b")
  return %a, %b : tensor<2x8x3x5x5xf32>, tensor<2x8x3x5x5xf32>
}

// CHECK-LABEL: func.func @shared
// CHECK: "top.Add"{{.*}}tensor<1x8x1x5x5xf32>) -> tensor<2x8x3x5x5xf32>
