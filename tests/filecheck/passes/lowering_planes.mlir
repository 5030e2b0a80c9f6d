// RUN: tpu-opt %s --split-input-file --convert-top-to-tpu="mode=F16 chip=bm1684x" --no-locations | filecheck %s

// Channels fill the lanes: each plane of the result sees a range of channels, no padding, and those
// in the middle share a filter.

// CHECK-LABEL: func.func @planes
// CHECK: [[X:%.*]] = "tpu.Reshape"({{.*}}) {{.*}}-> tensor<1x256x6x6xf16>
// CHECK-NEXT: top.Weight{{.*}}tensor<64x128x3x3xf16>
// CHECK-NEXT: [[A:%.*]] = "tpu.Slice"([[X]]{{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<1x128x6x6xf16>
// CHECK-NEXT: "tpu.Conv2D"([[A]]
// CHECK-NEXT: [[F:%.*]] = "top.Weight"() : () -> tensor<64x192x3x3xf16>
// CHECK-NEXT: [[B:%.*]] = "tpu.Slice"([[X]]{{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<1x192x6x6xf16>
// CHECK-NEXT: "tpu.Conv2D"([[B]], [[F]]
// CHECK-NEXT: [[C:%.*]] = "tpu.Slice"([[X]]{{.*}}offset = [0, 64, 0, 0]{{.*}}-> tensor<1x192x6x6xf16>
// CHECK-NEXT: "tpu.Conv2D"([[C]], [[F]]
// CHECK-NEXT: top.Weight{{.*}}tensor<64x128x3x3xf16>
// CHECK-NEXT: [[D:%.*]] = "tpu.Slice"([[X]]{{.*}}offset = [0, 128, 0, 0]{{.*}}-> tensor<1x128x6x6xf16>
// CHECK-NEXT: "tpu.Conv2D"([[D]]
// CHECK-NEXT: "tpu.Concat"({{.*}}) {axis = 1 {{.*}}-> tensor<1x256x6x6xf16>
// CHECK-NOT: tpu.Pad
func.func @planes(%x: tensor<1x64x4x6x6xf32>) -> tensor<1x64x4x6x6xf32> {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%x) : (tensor<1x64x4x6x6xf32>) -> tensor<1x64x4x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<64x64x3x3x3xf32> loc("w")
  %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [3, 3, 3], strides = [1, 1, 1], pads = [1, 1, 1, 1, 1, 1], dilations = [1, 1, 1], group = 1 : i64} : (tensor<1x64x4x6x6xf32>, tensor<64x64x3x3x3xf32>, none) -> tensor<1x64x4x6x6xf32> loc("y")
  return %1 : tensor<1x64x4x6x6xf32>
}

// -----

// Few channels: the four planes of the result are the output channels of one convolution.

// CHECK-LABEL: func.func @few
// CHECK-NOT: tpu.Slice
// CHECK: "tpu.Conv2D"({{.*}}tensor<1x8x6x6xf16>, tensor<32x8x3x3xf16>, none) -> tensor<1x32x6x6xf16>
// CHECK-NOT: tpu.Concat
func.func @few(%x: tensor<1x2x4x6x6xf32>) -> tensor<1x8x4x6x6xf32> {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%x) : (tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<8x2x3x3x3xf32> loc("w")
  %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [3, 3, 3], strides = [1, 1, 1], pads = [1, 1, 1, 1, 1, 1], dilations = [1, 1, 1], group = 1 : i64} : (tensor<1x2x4x6x6xf32>, tensor<8x2x3x3x3xf32>, none) -> tensor<1x8x4x6x6xf32> loc("y")
  return %1 : tensor<1x8x4x6x6xf32>
}

// -----

// One plane: taps that meet padding alone are gone.

// CHECK-LABEL: func.func @one
// CHECK: "tpu.Conv2D"({{.*}}tensor<1x64x6x6xf16>, tensor<64x64x3x3xf16>, none) -> tensor<1x64x6x6xf16>
func.func @one(%x: tensor<1x64x1x6x6xf32>) -> tensor<1x64x1x6x6xf32> {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%x) : (tensor<1x64x1x6x6xf32>) -> tensor<1x64x1x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<64x64x3x3x3xf32> loc("w")
  %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [3, 3, 3], strides = [1, 1, 1], pads = [1, 1, 1, 1, 1, 1], dilations = [1, 1, 1], group = 1 : i64} : (tensor<1x64x1x6x6xf32>, tensor<64x64x3x3x3xf32>, none) -> tensor<1x64x1x6x6xf32> loc("y")
  return %1 : tensor<1x64x1x6x6xf32>
}

// -----

// Groups stay planes that are copied together.

// CHECK-LABEL: func.func @groups
// CHECK: tpu.Pad
// CHECK: "tpu.Concat"({{.*}}) {axis = 3
// CHECK: "tpu.Conv2D"({{.*}}group = 2
func.func @groups(%x: tensor<1x4x3x6x6xf32>) -> tensor<1x4x3x6x6xf32> {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%x) : (tensor<1x4x3x6x6xf32>) -> tensor<1x4x3x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<4x2x3x3x3xf32> loc("w")
  %1 = "top.Conv"(%0, %w, %n) {kernel_shape = [3, 3, 3], strides = [1, 1, 1], pads = [1, 1, 1, 1, 1, 1], dilations = [1, 1, 1], group = 2 : i64} : (tensor<1x4x3x6x6xf32>, tensor<4x2x3x3x3xf32>, none) -> tensor<1x4x3x6x6xf32> loc("y")
  return %1 : tensor<1x4x3x6x6xf32>
}

// -----

// Planes of zeros between those of the input do not exist: two planes of the result see one.

// CHECK-LABEL: func.func @transposed
// CHECK-NOT: tpu.Pad
// CHECK: "tpu.Conv2D"({{.*}}inserts = [1, 1]{{.*}}tensor<1x64x6x6xf16>, tensor<128x64x2x2xf16>
// CHECK: "tpu.Conv2D"({{.*}}inserts = [1, 1]{{.*}}tensor<1x64x6x6xf16>, tensor<128x64x2x2xf16>
func.func @transposed(%x: tensor<1x64x2x6x6xf32>) -> tensor<1x64x4x12x12xf32> {
  %n = "top.None"() : () -> none
  %0 = "top.Input"(%x) : (tensor<1x64x2x6x6xf32>) -> tensor<1x64x2x6x6xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<64x64x2x2x2xf32> loc("w")
  %1 = "top.Deconv"(%0, %w, %n) {kernel_shape = [2, 2, 2], strides = [2, 2, 2], pads = [0, 0, 0, 0, 0, 0], dilations = [1, 1, 1], output_padding = [0, 0, 0], group = 1 : i64} : (tensor<1x64x2x6x6xf32>, tensor<64x64x2x2x2xf32>, none) -> tensor<1x64x4x12x12xf32> loc("y")
  return %1 : tensor<1x64x4x12x12xf32>
}
