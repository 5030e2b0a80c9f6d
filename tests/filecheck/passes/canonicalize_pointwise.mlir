// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --canonicalize --no-locations | filecheck %s

// Products over the channels of resized images.

// Fewer pixels are multiplied; the relu stays where pixels are blended.
func.func @before(%arg_x: tensor<1x4x4x4xf32>) -> tensor<1x2x8x8xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("x")
  %r = "top.Interp"(%x, %none) {coord_mode = "half_pixel", mode = "linear", scale_h = 2.0 : f64, scale_w = 2.0 : f64} : (tensor<1x4x4x4xf32>, none) -> tensor<1x4x8x8xf32> loc("r")
  %w = "top.Weight"() : () -> tensor<2x4x1x1xf32> loc("random_1x8")
  %y = "top.Conv"(%r, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], do_relu = true} : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>, none) -> tensor<1x2x8x8xf32> loc("y")
  return %y : tensor<1x2x8x8xf32>
}

// CHECK-LABEL: func.func @before
// CHECK: %3 = "top.Conv"(%1, %2, %0){{.*}}do_relu = false{{.*}}-> tensor<1x2x4x4xf32>
// CHECK-NEXT: %4 = "top.Interp"(%3, %0){{.*}}-> tensor<1x2x8x8xf32>
// CHECK-NEXT: %5 = "top.Relu"(%4)

// -----

// It goes along where pixels are only repeated.
func.func @repeated(%arg_x: tensor<1x4x4x4xf32>) -> tensor<1x2x8x8xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("x")
  %r = "top.Upsample"(%x) {scale_h = 2 : i64, scale_w = 2 : i64} : (tensor<1x4x4x4xf32>) -> tensor<1x4x8x8xf32> loc("r")
  %w = "top.Weight"() : () -> tensor<2x4x1x1xf32> loc("random_1x8")
  %y = "top.Conv"(%r, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], do_relu = true} : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>, none) -> tensor<1x2x8x8xf32> loc("y")
  return %y : tensor<1x2x8x8xf32>
}

// CHECK-LABEL: func.func @repeated
// CHECK: %3 = "top.Conv"(%1, %2, %0){{.*}}do_relu = true{{.*}}-> tensor<1x2x4x4xf32>
// CHECK-NEXT: %4 = "top.Upsample"(%3)

// -----

// An image that becomes smaller is multiplied when it is.
func.func @smaller(%arg_x: tensor<1x4x8x8xf32>) -> tensor<1x2x4x4xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> loc("x")
  %r = "top.Interp"(%x, %none) {coord_mode = "half_pixel", mode = "linear", scale_h = 0.5 : f64, scale_w = 0.5 : f64} : (tensor<1x4x8x8xf32>, none) -> tensor<1x4x4x4xf32> loc("r")
  %w = "top.Weight"() : () -> tensor<2x4x1x1xf32> loc("random_1x8")
  %y = "top.Conv"(%r, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x4x4x4xf32>, tensor<2x4x1x1xf32>, none) -> tensor<1x2x4x4xf32> loc("y")
  return %y : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: func.func @smaller
// CHECK: "top.Interp"
// CHECK-NEXT: "top.Weight"
// CHECK-NEXT: "top.Conv"

// -----

// A product of several images is a sum; the resized one is multiplied while it is small.
func.func @several(%arg_x: tensor<1x3x8x8xf32>, %arg_z: tensor<1x5x4x4xf32>) -> tensor<1x4x8x8xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
  %z = "top.Input"(%arg_z) : (tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32> loc("z")
  %r = "top.Upsample"(%z) {scale_h = 2 : i64, scale_w = 2 : i64} : (tensor<1x5x4x4xf32>) -> tensor<1x5x8x8xf32> loc("r")
  %j = "top.Concat"(%x, %r) {axis = 1 : si32} : (tensor<1x3x8x8xf32>, tensor<1x5x8x8xf32>) -> tensor<1x8x8x8xf32> loc("j")
  %w = "top.Weight"() : () -> tensor<4x8x1x1xf32> loc("random_8x4")
  %y = "top.Conv"(%j, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], do_relu = true} : (tensor<1x8x8x8xf32>, tensor<4x8x1x1xf32>, none) -> tensor<1x4x8x8xf32> loc("y")
  return %y : tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func @several
// CHECK: %4 = "top.Conv"(%1, %3, %0){{.*}}do_relu = false{{.*}}tensor<4x3x1x1xf32>{{.*}}-> tensor<1x4x8x8xf32>
// CHECK-NEXT: "top.Weight"
// CHECK-NEXT: %6 = "top.Conv"(%2, %5, %0){{.*}}do_relu = false{{.*}}tensor<4x5x1x1xf32>{{.*}}-> tensor<1x4x4x4xf32>
// CHECK-NEXT: %7 = "top.Upsample"(%6){{.*}}-> tensor<1x4x8x8xf32>
// CHECK-NEXT: %8 = "top.Add"(%4, %7){{.*}}do_relu = true
