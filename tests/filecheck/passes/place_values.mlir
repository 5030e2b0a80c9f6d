// RUN: tpu-opt %s --place-values="chip=bm1684x" --no-locations | filecheck %s

// Rows of a matrix of rank 2 are channels, as those of the tensors around it are.
// CHECK-LABEL: func.func @rank_two
// CHECK: %[[W:[0-9]+]] = "top.Weight"() {{.*}} -> tensor<1x64x32xf16>
// CHECK-NEXT: "tpu.LayerNorm"
// CHECK-NEXT: "tpu.MatMul"({{.*}} : (tensor<1x128x64xf16>, tensor<1x64x32xf16>, none, none, none) -> tensor<1x128x32xf16>
// CHECK-NEXT: "tpu.Active"({{.*}} : (tensor<1x128x32xf16>) -> tensor<1x128x32xf16>
// CHECK-NEXT: "tpu.Add"
// CHECK-NEXT: return
func.func @rank_two(%x: tensor<1x128x64xf16>, %y: tensor<1x128x32xf16>) -> tensor<1x128x32xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<64x32xf16> loc("w")
  %0 = "tpu.LayerNorm"(%x, %none, %none, %none, %none) {axis = 2 : si32, eps = 1.0e-05 : f64, normalized_shape = [64]} : (tensor<1x128x64xf16>, none, none, none, none) -> tensor<1x128x64xf16> loc("norm")
  %1 = "tpu.Reshape"(%0) {shape = [128, 64]} : (tensor<1x128x64xf16>) -> tensor<128x64xf16> loc("rows")
  %2 = "tpu.MatMul"(%1, %w, %none, %none, %none) : (tensor<128x64xf16>, tensor<64x32xf16>, none, none, none) -> tensor<128x32xf16> loc("product")
  %3 = "tpu.Active"(%2) {mode = #tpu<active_mode GELU>} : (tensor<128x32xf16>) -> tensor<128x32xf16> loc("gelu")
  %4 = "tpu.Reshape"(%3) {shape = [1, 128, 32]} : (tensor<128x32xf16>) -> tensor<1x128x32xf16> loc("back")
  %5 = "tpu.Add"(%4, %y) {do_relu = false} : (tensor<1x128x32xf16>, tensor<1x128x32xf16>) -> tensor<1x128x32xf16> loc("sum")
  return %5 : tensor<1x128x32xf16>
}

// The heads of a product are images; what the function returns keeps its shape.
// CHECK-LABEL: func.func @heads
// CHECK: "tpu.MatMul"({{.*}} : (tensor<12x50x32xf16>, tensor<12x32x50xf16>, none, none, none) -> tensor<12x50x50xf16>
// CHECK-NEXT: "tpu.Softmax"({{.*}}axis = 2 : si32{{.*}} -> tensor<12x50x50xf16>
// CHECK-NEXT: "tpu.Reshape"({{.*}} -> tensor<2x6x50x50xf16>
func.func @heads(%q: tensor<2x6x50x32xf16>, %k: tensor<2x6x32x50xf16>) -> tensor<2x6x50x50xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %0 = "tpu.MatMul"(%q, %k, %none, %none, %none) : (tensor<2x6x50x32xf16>, tensor<2x6x32x50xf16>, none, none, none) -> tensor<2x6x50x50xf16> loc("scores")
  %1 = "tpu.Softmax"(%0, %none, %none, %none, %none, %none) {axis = 3 : si32} : (tensor<2x6x50x50xf16>, none, none, none, none, none) -> tensor<2x6x50x50xf16> loc("probable")
  return %1 : tensor<2x6x50x50xf16>
}

// Nothing to gain: a convolution's channels are lanes already.
// CHECK-LABEL: func.func @planes
// CHECK: "tpu.Conv2D"({{.*}} -> tensor<1x8x6x6xf16>
// CHECK-NEXT: "tpu.Relu"({{.*}} : (tensor<1x8x6x6xf16>) -> tensor<1x8x6x6xf16>
// CHECK-NEXT: "tpu.Reshape"({{.*}} : (tensor<1x8x6x6xf16>) -> tensor<1x288xf16>
func.func @planes(%x: tensor<1x4x8x8xf16>) -> tensor<1x288xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<8x4x3x3xf16> loc("filter")
  %0 = "tpu.Conv2D"(%x, %w, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<1x4x8x8xf16>, tensor<8x4x3x3xf16>, none) -> tensor<1x8x6x6xf16> loc("conv")
  %1 = "tpu.Relu"(%0) : (tensor<1x8x6x6xf16>) -> tensor<1x8x6x6xf16> loc("relu")
  %2 = "tpu.Reshape"(%1) {shape = [1, 288]} : (tensor<1x8x6x6xf16>) -> tensor<1x288xf16> loc("flat")
  return %2 : tensor<1x288xf16>
}

// An operand stretched along the images keeps them apart from the channels.
// CHECK-LABEL: func.func @stretched
// CHECK: "tpu.Add"({{.*}} : (tensor<4x50x64xf16>, tensor<1x50x64xf16>) -> tensor<4x50x64xf16>
// CHECK-NEXT: "tpu.LayerNorm"({{.*}} -> tensor<4x50x64xf16>
func.func @stretched(%x: tensor<4x50x64xf16>, %p: tensor<1x50x64xf16>) -> tensor<4x50x64xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %0 = "tpu.Add"(%x, %p) {do_relu = false} : (tensor<4x50x64xf16>, tensor<1x50x64xf16>) -> tensor<4x50x64xf16> loc("shifted")
  %1 = "tpu.LayerNorm"(%0, %none, %none, %none, %none) {axis = 2 : si32, eps = 1.0e-05 : f64, normalized_shape = [64]} : (tensor<4x50x64xf16>, none, none, none, none) -> tensor<4x50x64xf16> loc("scaled")
  return %1 : tensor<4x50x64xf16>
}

// Pixels of an image, 64 bytes each, lie over the lanes four by four: so they come from DDR, and go
// there, in runs of 256 bytes.
// CHECK-LABEL: func.func @pixels
// CHECK: "tpu.Reshape"({{.*}} -> tensor<1x32x1024x4xf16>
// CHECK-NEXT: %[[ROWS:[0-9]+]] = "tpu.Permute"({{.*}}order = [0, 2, 3, 1]{{.*}} -> tensor<1x1024x4x32xf16>
// CHECK-NEXT: %[[NORM:[0-9]+]] = "tpu.LayerNorm"(%[[ROWS]]{{.*}} -> tensor<1x1024x4x32xf16>
// CHECK: "tpu.Permute"(%[[NORM]]{{.*}}order = [0, 3, 1, 2]{{.*}} -> tensor<1x32x1024x4xf16>
// CHECK-NEXT: "tpu.Reshape"({{.*}} -> tensor<1x32x64x64xf16>
func.func @pixels(%x: tensor<1x32x64x64xf16>) -> (tensor<1x32x64x64xf16>, tensor<4096x1x32xf16>) {
  %none = "top.None"() : () -> none loc(unknown)
  %0 = "tpu.Relu"(%x) : (tensor<1x32x64x64xf16>) -> tensor<1x32x64x64xf16> loc("relu")
  %1 = "tpu.Reshape"(%0) {shape = [1, 32, 4096]} : (tensor<1x32x64x64xf16>) -> tensor<1x32x4096xf16> loc("flat")
  %2 = "tpu.Permute"(%1, %none) {order = [0, 2, 1]} : (tensor<1x32x4096xf16>, none) -> tensor<1x4096x32xf16> loc("rows")
  %3 = "tpu.LayerNorm"(%2, %none, %none, %none, %none) {axis = 2 : si32, eps = 1.0e-05 : f64, normalized_shape = [32]} : (tensor<1x4096x32xf16>, none, none, none, none) -> tensor<1x4096x32xf16> loc("norm")
  %4 = "tpu.Permute"(%3, %none) {order = [1, 0, 2]} : (tensor<1x4096x32xf16>, none) -> tensor<4096x1x32xf16> loc("elsewhere")
  %5 = "tpu.Permute"(%3, %none) {order = [0, 2, 1]} : (tensor<1x4096x32xf16>, none) -> tensor<1x32x4096xf16> loc("channels")
  %6 = "tpu.Reshape"(%5) {shape = [1, 32, 64, 64]} : (tensor<1x32x4096xf16>) -> tensor<1x32x64x64xf16> loc("image")
  %7 = "tpu.Relu"(%6) : (tensor<1x32x64x64xf16>) -> tensor<1x32x64x64xf16> loc("y")
  return %7, %4 : tensor<1x32x64x64xf16>, tensor<4096x1x32xf16>
}

// Pixels of 256 bytes are long enough one by one.
// CHECK-LABEL: func.func @long_pixels
// CHECK: "tpu.Permute"({{.*}}order = [0, 2, 1]{{.*}} -> tensor<1x4096x128xf16>
// CHECK-NEXT: "tpu.LayerNorm"({{.*}} -> tensor<1x4096x128xf16>
func.func @long_pixels(%x: tensor<1x128x4096xf16>) -> tensor<4096x1x128xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %0 = "tpu.Relu"(%x) : (tensor<1x128x4096xf16>) -> tensor<1x128x4096xf16> loc("relu")
  %1 = "tpu.Permute"(%0, %none) {order = [0, 2, 1]} : (tensor<1x128x4096xf16>, none) -> tensor<1x4096x128xf16> loc("rows")
  %2 = "tpu.LayerNorm"(%1, %none, %none, %none, %none) {axis = 2 : si32, eps = 1.0e-05 : f64, normalized_shape = [128]} : (tensor<1x4096x128xf16>, none, none, none, none) -> tensor<1x4096x128xf16> loc("norm")
  %3 = "tpu.Permute"(%2, %none) {order = [1, 0, 2]} : (tensor<1x4096x128xf16>, none) -> tensor<4096x1x128xf16> loc("elsewhere")
  return %3 : tensor<4096x1x128xf16>
}

// Behind a Permute that moves in DDR a turn is part of that move.
// CHECK-LABEL: func.func @heads_turned
// CHECK: "tpu.Permute"({{.*}}order = [0, 2, 1]{{.*}} -> tensor<6x32x128xf16>
// CHECK-NEXT: "tpu.Relu"({{.*}} -> tensor<6x32x128xf16>
func.func @heads_turned(%k: tensor<1x128x6x32xf16>) -> tensor<6x32x128xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %0 = "tpu.Permute"(%k, %none) {order = [0, 2, 1, 3]} : (tensor<1x128x6x32xf16>, none) -> tensor<1x6x128x32xf16> loc("heads")
  %1 = "tpu.Reshape"(%0) {shape = [6, 128, 32]} : (tensor<1x6x128x32xf16>) -> tensor<6x128x32xf16> loc("each")
  %2 = "tpu.Permute"(%1, %none) {order = [0, 2, 1]} : (tensor<6x128x32xf16>, none) -> tensor<6x32x128xf16> loc("turned")
  %3 = "tpu.Relu"(%2) : (tensor<6x32x128xf16>) -> tensor<6x32x128xf16> loc("relu")
  return %3 : tensor<6x32x128xf16>
}

// Matrices of several images that are turned are images, and what follows sees them so.
// CHECK-LABEL: func.func @matrices
// CHECK: "tpu.Permute"({{.*}}order = [0, 2, 1]{{.*}} : (tensor<6x128x80xf16>, none) -> tensor<6x80x128xf16>
// CHECK-NEXT: "tpu.LayerNorm"({{.*}} -> tensor<6x80x128xf16>
// CHECK-NEXT: "tpu.Reshape"({{.*}} -> tensor<2x3x80x128xf16>
func.func @matrices(%x: tensor<2x3x128x80xf16>) -> tensor<2x3x80x128xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %1 = "tpu.Permute"(%x, %none) {order = [0, 1, 3, 2]} : (tensor<2x3x128x80xf16>, none) -> tensor<2x3x80x128xf16> loc("rows")
  %2 = "tpu.LayerNorm"(%1, %none, %none, %none, %none) {axis = 3 : si32, eps = 1.0e-05 : f64, normalized_shape = [128]} : (tensor<2x3x80x128xf16>, none, none, none, none) -> tensor<2x3x80x128xf16> loc("norm")
  return %2 : tensor<2x3x80x128xf16>
}

// Images that are turned as well stay apart.
// CHECK-LABEL: func.func @images_too
// CHECK: "tpu.Permute"({{.*}}order = [1, 0, 3, 2]{{.*}} -> tensor<3x2x80x128xf16>
func.func @images_too(%x: tensor<2x3x128x80xf16>) -> tensor<3x2x80x128xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %1 = "tpu.Permute"(%x, %none) {order = [1, 0, 3, 2]} : (tensor<2x3x128x80xf16>, none) -> tensor<3x2x80x128xf16> loc("rows")
  %2 = "tpu.LayerNorm"(%1, %none, %none, %none, %none) {axis = 3 : si32, eps = 1.0e-05 : f64, normalized_shape = [128]} : (tensor<3x2x80x128xf16>, none, none, none, none) -> tensor<3x2x80x128xf16> loc("norm")
  return %2 : tensor<3x2x80x128xf16>
}

// A filter that is computed lies with output channels over the lanes, as the convolution wants it.
// CHECK-LABEL: func.func @filter
// CHECK: "tpu.Mul"({{.*}} : (tensor<1x1x24x1xf16>, tensor<1x48x24x9xf16>) -> tensor<1x48x24x9xf16>
// CHECK-NEXT: "tpu.Relu"({{.*}} -> tensor<1x48x24x9xf16>
// CHECK-NEXT: %[[FILTER:[0-9]+]] = "tpu.Reshape"({{.*}} -> tensor<48x24x3x3xf16>
// CHECK-NEXT: "tpu.Conv2D"({{.*}}, %[[FILTER]]
func.func @filter(%x: tensor<1x24x16x16xf16>, %style: tensor<1x24x1xf16>, %w: tensor<48x24x9xf16>) -> tensor<1x48x14x14xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %0 = "tpu.Mul"(%style, %w) {do_relu = false} : (tensor<1x24x1xf16>, tensor<48x24x9xf16>) -> tensor<48x24x9xf16> loc("modulated")
  %1 = "tpu.Relu"(%0) : (tensor<48x24x9xf16>) -> tensor<48x24x9xf16> loc("positive")
  %2 = "tpu.Reshape"(%1) {shape = [48, 24, 3, 3]} : (tensor<48x24x9xf16>) -> tensor<48x24x3x3xf16> loc("filters")
  %3 = "tpu.Conv2D"(%x, %2, %none) {kernel_shape = [3, 3], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false, weight_is_coeff = 0 : i64} : (tensor<1x24x16x16xf16>, tensor<48x24x3x3xf16>, none) -> tensor<1x48x14x14xf16> loc("conv")
  return %3 : tensor<1x48x14x14xf16>
}
