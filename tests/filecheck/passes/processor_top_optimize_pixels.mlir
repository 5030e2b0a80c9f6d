// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --processor-top-optimize --no-locations | filecheck %s

// Linear layers between images and rows of pixels.

// 4 numbers of a pixel are permuted, not 8.
func.func @rows_to_image(%arg_x: tensor<2x6x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %m = "top.MatMul"(%x, %w, %none) : (tensor<2x6x4xf32>, tensor<4x8xf32>, none) -> tensor<*xf32> loc("m")
  %p = "top.Permute"(%m) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Reshape"(%p) {shape = [2, 8, 2, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @rows_to_image
// CHECK: %[[P:.*]] = "top.Permute"{{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x4x6xf32>
// CHECK-NEXT: %[[I:.*]] = "top.Reshape"(%[[P]]){{.*}}-> tensor<2x4x2x3xf32>
// CHECK-NEXT: %[[W:.*]] = "top.Weight"(){{.*}}-> tensor<8x4x1x1xf32>
// CHECK-NEXT: %[[Y:.*]] = "top.Conv"(%[[I]], %[[W]], {{.*}}kernel_shape = [1, 1]{{.*}}-> tensor<2x8x2x3xf32>
// CHECK-NEXT: return %[[Y]]

// -----

// What is between product and permute goes along.
func.func @function_to_image(%arg_x: tensor<2x6x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %m = "top.MatMul"(%x, %w, %none) : (tensor<2x6x4xf32>, tensor<4x8xf32>, none) -> tensor<*xf32> loc("m")
  %g = "top.GELU"(%m) : (tensor<*xf32>) -> tensor<*xf32> loc("g")
  %p = "top.Permute"(%g) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Reshape"(%p) {shape = [2, 8, 2, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @function_to_image
// CHECK: %[[P:.*]] = "top.Permute"{{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x4x6xf32>
// CHECK-NEXT: %[[I:.*]] = "top.Reshape"(%[[P]]){{.*}}-> tensor<2x4x2x3xf32>
// CHECK-NEXT: "top.Weight"
// CHECK-NEXT: %[[C:.*]] = "top.Conv"(%[[I]], {{.*}}-> tensor<2x8x2x3xf32>
// CHECK-NEXT: %[[G:.*]] = "top.GELU"(%[[C]]){{.*}}-> tensor<2x8x2x3xf32>
// CHECK-NEXT: return %[[G]]

// -----

// Here fewer are permuted behind the product.
func.func @fewer_behind(%arg_x: tensor<2x6x8xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x4xf32> loc("random_8x4")
  %m = "top.MatMul"(%x, %w, %none) : (tensor<2x6x8xf32>, tensor<8x4xf32>, none) -> tensor<*xf32> loc("m")
  %p = "top.Permute"(%m) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %y = "top.Reshape"(%p) {shape = [2, 4, 2, 3]} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @fewer_behind
// CHECK: "top.MatMul"
// CHECK-NEXT: "top.Permute"
// CHECK-NEXT: "top.Reshape"

// -----

// What is between permute and product goes along.
func.func @image_to_rows(%arg_x: tensor<2x8x2x3xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x8x2x3xf32>) -> tensor<2x8x2x3xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x4xf32> loc("random_8x4")
  %b = "top.Weight"() : () -> tensor<4xf32> loc("random_4")
  %f = "top.Reshape"(%x) {shape = [2, 8, 6]} : (tensor<2x8x2x3xf32>) -> tensor<*xf32> loc("f")
  %p = "top.Permute"(%f) {order = [0, 2, 1]} : (tensor<*xf32>) -> tensor<*xf32> loc("p")
  %g = "top.GELU"(%p) : (tensor<*xf32>) -> tensor<*xf32> loc("g")
  %y = "top.MatMul"(%g, %w, %b) : (tensor<*xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @image_to_rows
// CHECK: %[[G:.*]] = "top.GELU"{{.*}}-> tensor<2x8x2x3xf32>
// CHECK: %[[C:.*]] = "top.Conv"(%[[G]], {{.*}}-> tensor<2x4x2x3xf32>
// CHECK-NEXT: %[[R:.*]] = "top.Reshape"(%[[C]]){{.*}}-> tensor<2x4x6xf32>
// CHECK-NEXT: %[[P:.*]] = "top.Permute"(%[[R]]){{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x6x4xf32>
// CHECK-NEXT: return %[[P]]

// -----

// One row is an image of one pixel.
func.func @row(%arg_x: tensor<1x4x1x1xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %p = "top.Input"(%arg_x) : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32> loc("p")
  %x = "top.Reshape"(%p) {shape = [1, 1, 4]} : (tensor<1x4x1x1xf32>) -> tensor<1x1x4xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %y = "top.MatMul"(%x, %w, %none) {do_relu = true} : (tensor<1x1x4xf32>, tensor<4x8xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @row
// CHECK: %[[C:.*]] = "top.Conv"(%{{.*}}, {{.*}}do_relu = true{{.*}}kernel_shape = [1, 1]{{.*}}-> tensor<1x8x1x1xf32>
// CHECK-NEXT: %[[Y:.*]] = "top.Reshape"(%[[C]]){{.*}}-> tensor<1x1x8xf32>
// CHECK-NEXT: return %[[Y]]

// -----

// A token lies in one lane: what reads it there is a product.
func.func @token(%arg_x: tensor<1x3x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %t = "top.Input"(%arg_x) : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32> loc("t")
  %x = "top.Slice"(%t, %none, %none, %none) {offset = [0, 0, 0], ends = [1, 1, 4], steps = [1, 1, 1], axes = []} : (tensor<1x3x4xf32>, none, none, none) -> tensor<1x1x4xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %y = "top.MatMul"(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<4x8xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @token
// CHECK: "top.MatMul"

// -----

// Two rows keep two lanes busy, and a product is theirs.
func.func @rows(%arg_x: tensor<2x4xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
  %y = "top.MatMul"(%x, %w, %none) : (tensor<2x4xf32>, tensor<4x8xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: "top.MatMul"

// -----

// Integers of a convolution have other scales than those of a product.
module attributes {module.mode = "INT8"} {
  func.func @integers(%arg_x: tensor<1x4xf32>) -> tensor<*xf32> {
    %none = "top.None"() : () -> none
    %x = "top.Input"(%arg_x) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("x")
    %w = "top.Weight"() : () -> tensor<4x8xf32> loc("random_4x8")
    %y = "top.MatMul"(%x, %w, %none) : (tensor<1x4xf32>, tensor<4x8xf32>, none) -> tensor<*xf32> loc("y")
    return %y : tensor<*xf32>
  }
}

// CHECK-LABEL: func.func @integers
// CHECK: "top.MatMul"
