// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s

// Samples of two images, weighted and summed over their positions: one op an image.
func.func @rows(%a: tensor<2x8x6x6xf32>, %b: tensor<2x8x4x4xf32>, %g: tensor<2x5x4x2xf32>, %h: tensor<2x5x3x2xf32>, %w: tensor<2x1x5x7xf32>) -> tensor<2x8x5xf32> {
  %s = "top.GridSampler"(%a, %g) {align_corners = false, mode = 0 : i64, padding_mode = 0 : i64} : (tensor<2x8x6x6xf32>, tensor<2x5x4x2xf32>) -> tensor<2x8x5x4xf32> loc("s")
  %t = "top.GridSampler"(%b, %h) {align_corners = false, mode = 0 : i64, padding_mode = 0 : i64} : (tensor<2x8x4x4xf32>, tensor<2x5x3x2xf32>) -> tensor<2x8x5x3xf32> loc("t")
  %c = "top.Concat"(%s, %t) {axis = 3 : si32} : (tensor<2x8x5x4xf32>, tensor<2x8x5x3xf32>) -> tensor<2x8x5x7xf32> loc("c")
  %m = "top.Mul"(%c, %w) : (tensor<2x8x5x7xf32>, tensor<2x1x5x7xf32>) -> tensor<2x8x5x7xf32> loc("m")
  %y = "top.Reduce"(%m) {axes = [3], keepdims = false, mode = "ReduceSum"} : (tensor<2x8x5x7xf32>) -> tensor<2x8x5xf32> loc("y")
  return %y : tensor<2x8x5xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: "top.Reshape"{{.*}} -> tensor<2x5x7xf32>
// CHECK-NEXT: "top.Permute"{{.*}}order = [2, 0, 1]{{.*}} -> tensor<7x2x5xf32>
// CHECK-NEXT: "top.Permute"{{.*}}order = [3, 2, 0, 1]{{.*}} -> tensor<2x4x2x5xf32>
// CHECK-NEXT: "top.Slice"{{.*}} -> tensor<4x2x5xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<2x8x36xf32>
// CHECK-NEXT: "top.Permute"{{.*}}order = [0, 2, 1]{{.*}} -> tensor<2x36x8xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<72x8xf32>
// CHECK-NEXT: "top.SampledSum"{{.*}}height = 6{{.*}}image_step = 36{{.*}} -> tensor<2x5x8xf32>
// CHECK-NEXT: "top.Permute"{{.*}}order = [3, 2, 0, 1]{{.*}} -> tensor<2x3x2x5xf32>
// CHECK-NEXT: "top.Slice"{{.*}} -> tensor<3x2x5xf32>
// CHECK: "top.SampledSum"{{.*}}height = 4{{.*}}image_step = 16{{.*}} -> tensor<2x5x8xf32>
// CHECK-NEXT: "top.Add"
// CHECK-NEXT: "top.Permute"{{.*}}order = [0, 2, 1]{{.*}} -> tensor<2x8x5xf32>
// CHECK-NOT: "top.Concat"

// -----

// The mean is not the sum.
func.func @mean(%a: tensor<2x8x6x6xf32>, %g: tensor<2x5x4x2xf32>, %w: tensor<2x1x5x4xf32>) -> tensor<2x8x5xf32> {
  %s = "top.GridSampler"(%a, %g) {align_corners = false, mode = 0 : i64, padding_mode = 0 : i64} : (tensor<2x8x6x6xf32>, tensor<2x5x4x2xf32>) -> tensor<2x8x5x4xf32> loc("s")
  %m = "top.Mul"(%s, %w) : (tensor<2x8x5x4xf32>, tensor<2x1x5x4xf32>) -> tensor<2x8x5x4xf32> loc("m")
  %y = "top.Reduce"(%m) {axes = [3], keepdims = false, mode = "ReduceMean"} : (tensor<2x8x5x4xf32>) -> tensor<2x8x5xf32> loc("y")
  return %y : tensor<2x8x5xf32>
}

// CHECK-LABEL: func.func @mean
// CHECK: "top.GridSampler"{{.*}} -> tensor<2x8x5x4xf32>
// CHECK: "top.Reduce"{{.*}}axes = [3]

// -----

// A sum over queries is none over the positions of one.
func.func @queries(%a: tensor<2x8x6x6xf32>, %g: tensor<2x5x4x2xf32>, %w: tensor<2x1x5x4xf32>) -> tensor<2x8x4xf32> {
  %s = "top.GridSampler"(%a, %g) {align_corners = false, mode = 0 : i64, padding_mode = 0 : i64} : (tensor<2x8x6x6xf32>, tensor<2x5x4x2xf32>) -> tensor<2x8x5x4xf32> loc("s")
  %m = "top.Mul"(%s, %w) : (tensor<2x8x5x4xf32>, tensor<2x1x5x4xf32>) -> tensor<2x8x5x4xf32> loc("m")
  %y = "top.Reduce"(%m) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<2x8x5x4xf32>) -> tensor<2x8x4xf32> loc("y")
  return %y : tensor<2x8x4xf32>
}

// CHECK-LABEL: func.func @queries
// CHECK: "top.GridSampler"{{.*}} -> tensor<2x8x5x4xf32>

// -----

// Pixels that are tokens: heads lie beside each other in a row of the table that is there.
func.func @tokens(%v: tensor<1x40x16xf32>, %g: tensor<2x4x2x5xf32>, %w: tensor<4x2x5xf32>) -> tensor<2x5x8xf32> {
  %none = "top.None"() : () -> none
  %s = "top.Slice"(%v, %none, %none, %none) {offset = [0, 4, 0], ends = [1, 40, 16], steps = [1, 1, 1]} : (tensor<1x40x16xf32>, none, none, none) -> tensor<1x36x16xf32> loc("s")
  %p = "top.Permute"(%s) {order = [0, 2, 1]} : (tensor<1x36x16xf32>) -> tensor<1x16x36xf32> loc("p")
  %i = "top.Reshape"(%p) : (tensor<1x16x36xf32>) -> tensor<2x8x36xf32> loc("i")
  %q = "top.Permute"(%i) {order = [0, 2, 1]} : (tensor<2x8x36xf32>) -> tensor<2x36x8xf32> loc("q")
  %t = "top.Reshape"(%q) : (tensor<2x36x8xf32>) -> tensor<72x8xf32> loc("t")
  %y = "top.SampledSum"(%t, %g, %w) {align_corners = false, height = 6, width = 6, image_step = 36, mode = 0, padding_mode = 0} : (tensor<72x8xf32>, tensor<2x4x2x5xf32>, tensor<4x2x5xf32>) -> tensor<2x5x8xf32> loc("y")
  return %y : tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @tokens
// CHECK: [[T:%.*]] = "top.Reshape"(%{{.*}}) {{.*}} : (tensor<1x40x16xf32>) -> tensor<80x8xf32>
// CHECK-NEXT: "top.SampledSum"([[T]]{{.*}}first = 8{{.*}}image_step = 1{{.*}}pixel_step = 2
// CHECK-NOT: "top.Permute"

// -----

// Channels that are not neighbours are no rows: the boundary is one number between them.
func.func @apart(%v: tensor<1x36x2x8xf32>, %g: tensor<2x4x2x5xf32>, %w: tensor<4x2x5xf32>) -> tensor<2x5x8xf32> {
  %p = "top.Permute"(%v) {order = [0, 1, 3, 2]} : (tensor<1x36x2x8xf32>) -> tensor<1x36x8x2xf32> loc("p")
  %t = "top.Reshape"(%p) : (tensor<1x36x8x2xf32>) -> tensor<72x8xf32> loc("t")
  %y = "top.SampledSum"(%t, %g, %w) {align_corners = false, height = 6, width = 6, image_step = 36, mode = 0, padding_mode = 0} : (tensor<72x8xf32>, tensor<2x4x2x5xf32>, tensor<4x2x5xf32>) -> tensor<2x5x8xf32> loc("y")
  return %y : tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @apart
// CHECK: "top.Permute"
// CHECK: "top.SampledSum"{{.*}}image_step = 36
