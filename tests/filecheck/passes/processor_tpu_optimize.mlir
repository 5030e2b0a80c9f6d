// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --processor-tpu-optimize | filecheck %s
// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --processor-tpu-optimize="merge_depthwise=true" | filecheck %s --check-prefix=ALL

// 32 channels fit into one read of the matrix unit: the groups become one dense filter.
// CHECK-LABEL: module @few
// CHECK: "top.Weight"() : () -> tensor<32x32x3x3xf16> loc([[W:#loc[0-9]+]])
// CHECK: "tpu.Conv2D"({{.*}}group = 1 : i64
// CHECK: [[W]] = loc("conv_filter_g2normal")
module @few attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x32x8x8xf16>) -> tensor<1x32x6x6xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<32x2x3x3xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {group = 16 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], with_bias = false} : (tensor<1x32x8x8xf16>, tensor<32x2x3x3xf16>, none) -> tensor<1x32x6x6xf16> loc("conv")
    return %2 : tensor<1x32x6x6xf16>
  }
}

// -----

// One filter for each channel is the pooling unit's.
// CHECK-LABEL: module @depthwise
// CHECK: tensor<32x1x3x3xf16>
// CHECK: group = 32 : i64
// ALL-LABEL: module @depthwise
// ALL: tensor<32x32x3x3xf16>
// ALL: group = 1 : i64
module @depthwise attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x32x8x8xf16>) -> tensor<1x32x6x6xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x32x8x8xf16>) -> tensor<1x32x8x8xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<32x1x3x3xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {group = 32 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], with_bias = false} : (tensor<1x32x8x8xf16>, tensor<32x1x3x3xf16>, none) -> tensor<1x32x6x6xf16> loc("dw")
    return %2 : tensor<1x32x6x6xf16>
  }
}

// -----

// But not with windows farther apart than it can say.
// CHECK-LABEL: module @far
// CHECK: tensor<2x2x3x3xf16>
// CHECK: group = 1 : i64
module @far attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x2x33x33xf16>) -> tensor<1x2x2x2xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x2x33x33xf16>) -> tensor<1x2x33x33xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<2x1x3x3xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {group = 2 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [16, 16], with_bias = false} : (tensor<1x2x33x33xf16>, tensor<2x1x3x3xf16>, none) -> tensor<1x2x2x2xf16> loc("dw")
    return %2 : tensor<1x2x2x2xf16>
  }
}

// -----

// Two channels more take two reads for all 17 groups together, and 17 for one after the other.
// CHECK-LABEL: module @more
// CHECK: tensor<34x34x3x3xf16>
// CHECK: group = 1 : i64
module @more attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x34x8x8xf16>) -> tensor<1x34x6x6xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x34x8x8xf16>) -> tensor<1x34x8x8xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<34x2x3x3xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {group = 17 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], with_bias = false} : (tensor<1x34x8x8xf16>, tensor<34x2x3x3xf16>, none) -> tensor<1x34x6x6xf16> loc("conv")
    return %2 : tensor<1x34x6x6xf16>
  }
}

// -----

// 16 groups of 4 channels fill the lanes of one block: 2 of these, where all 32 would be 4 by 2.
// CHECK-LABEL: module @joined
// CHECK: tensor<128x64x3x3xf16>
// CHECK: group = 2 : i64
module @joined attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x128x30x30xf16>) -> tensor<1x128x28x28xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x128x30x30xf16>) -> tensor<1x128x30x30xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<128x4x3x3xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {group = 32 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], with_bias = false} : (tensor<1x128x30x30xf16>, tensor<128x4x3x3xf16>, none) -> tensor<1x128x28x28xf16> loc("conv")
    return %2 : tensor<1x128x28x28xf16>
  }
}

// -----

// One window is done before the zeros are loaded.
// CHECK-LABEL: module @small_image
// CHECK: tensor<34x2x3x3xf16>
// CHECK: group = 17 : i64
module @small_image attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x34x3x3xf16>) -> tensor<1x34x1x1xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x34x3x3xf16>) -> tensor<1x34x3x3xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<34x2x3x3xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {group = 17 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], with_bias = false} : (tensor<1x34x3x3xf16>, tensor<34x2x3x3xf16>, none) -> tensor<1x34x1x1xf16> loc("conv")
    return %2 : tensor<1x34x1x1xf16>
  }
}

// -----

// Two groups that fill the channels of a read take as long as the dense filter, but channels of the
// second one begin on lane 32 and would be moved.
// CHECK-LABEL: module @half_lanes
// CHECK: tensor<64x64x3x3xf16>
// CHECK: group = 1 : i64
module @half_lanes attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64x30x30xf16>) -> tensor<1x64x28x28xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x64x30x30xf16>) -> tensor<1x64x30x30xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<64x32x3x3xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {group = 2 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], with_bias = false} : (tensor<1x64x30x30xf16>, tensor<64x32x3x3xf16>, none) -> tensor<1x64x28x28xf16> loc("conv")
    return %2 : tensor<1x64x28x28xf16>
  }
}

// -----

// Groups that fill the lanes are done in half the time of the dense filter.
// CHECK-LABEL: module @full_groups
// CHECK: tensor<128x64x3x3xf16>
// CHECK: group = 2 : i64
module @full_groups attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x128x30x30xf16>) -> tensor<1x128x28x28xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x128x30x30xf16>) -> tensor<1x128x30x30xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<128x64x3x3xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {group = 2 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], with_bias = false} : (tensor<1x128x30x30xf16>, tensor<128x64x3x3xf16>, none) -> tensor<1x128x28x28xf16> loc("conv")
    return %2 : tensor<1x128x28x28xf16>
  }
}

// -----

// In 8 bits 17 channels of a group have no kernel of their own, 64 have one.
// CHECK-LABEL: module @no_kernel
// CHECK: tensor<68x68x3x3xi8>
// CHECK: group = 1 : i64
module @no_kernel attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x68x3x3xi8>) -> tensor<1x68x1x1xi8> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x68x3x3xi8>) -> tensor<1x68x3x3xi8> loc("x")
    %1 = "top.Weight"() : () -> tensor<68x17x3x3xi8> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {group = 4 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], with_bias = false} : (tensor<1x68x3x3xi8>, tensor<68x17x3x3xi8>, none) -> tensor<1x68x1x1xi8> loc("conv")
    return %2 : tensor<1x68x1x1xi8>
  }
}

// -----

// CHECK-LABEL: module @whole_lanes
// CHECK: tensor<128x64x3x3xi8>
// CHECK: group = 2 : i64
module @whole_lanes attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x128x3x3xi8>) -> tensor<1x128x1x1xi8> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x128x3x3xi8>) -> tensor<1x128x3x3xi8> loc("x")
    %1 = "top.Weight"() : () -> tensor<128x64x3x3xi8> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {group = 2 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], with_bias = false} : (tensor<1x128x3x3xi8>, tensor<128x64x3x3xi8>, none) -> tensor<1x128x1x1xi8> loc("conv")
    return %2 : tensor<1x128x1x1xi8>
  }
}

// -----

// f32 has no parallel channels.
// CHECK-LABEL: module @f32
// CHECK: group = 2 : i64
module @f32 attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x2x8x8xf32>) -> tensor<1x2x6x6xf32> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<2x1x3x3xf32> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {group = 2 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], with_bias = false} : (tensor<1x2x8x8xf32>, tensor<2x1x3x3xf32>, none) -> tensor<1x2x6x6xf32> loc("dw")
    return %2 : tensor<1x2x6x6xf32>
  }
}

// -----

// The first product's left operand is used again, the second's is not.
// Reshapes that follow each other merge, one that changes nothing goes.
// CHECK-LABEL: module @matmul
// CHECK: "tpu.MatMul"{{.*}}left_reuse = 1 : i64
// CHECK-NEXT: "tpu.Reshape"({{%[0-9]+}}) {{.*}}: (tensor<4x8xf16>) -> tensor<32xf16>
// CHECK-NEXT: "tpu.MulConst"
// CHECK-NEXT: "tpu.Reshape"({{%[0-9]+}}) {{.*}}: (tensor<32xf16>) -> tensor<4x8xf16>
// CHECK-NEXT: "tpu.Add"
// CHECK-NEXT: "tpu.MatMul"{{.*}}left_reuse = 0 : i64
// CHECK-NEXT: return
module @matmul attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<4x8xf16>) -> tensor<4x8xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<8x8xf16> loc("w")
    %2 = "tpu.MatMul"(%0, %1, %n, %n, %n) {left_reuse = 0 : i64} : (tensor<4x8xf16>, tensor<8x8xf16>, none, none, none) -> tensor<4x8xf16> loc("m1")
    %3 = "tpu.Reshape"(%2) {shape = [2, 16]} : (tensor<4x8xf16>) -> tensor<2x16xf16> loc("r1")
    %4 = "tpu.Reshape"(%3) {shape = [32]} : (tensor<2x16xf16>) -> tensor<32xf16> loc("r2")
    %5 = "tpu.Reshape"(%4) {shape = [32]} : (tensor<32xf16>) -> tensor<32xf16> loc("r3")
    %6 = "tpu.MulConst"(%5) {const_val = 2.0 : f64} : (tensor<32xf16>) -> tensor<32xf16> loc("s")
    %7 = "tpu.Reshape"(%6) {shape = [4, 8]} : (tensor<32xf16>) -> tensor<4x8xf16> loc("r4")
    %8 = "tpu.Add"(%7, %0) : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> loc("sum")
    %9 = "tpu.MatMul"(%8, %1, %n, %n, %n) {left_reuse = 1 : i64} : (tensor<4x8xf16>, tensor<8x8xf16>, none, none, none) -> tensor<4x8xf16> loc("m2")
    return %9 : tensor<4x8xf16>
  }
}

// -----

// Refused: zeros cannot be put into a filter that is computed.
func.func @filter_is_computed(%arg_x: tensor<1x4x8x8xf16>, %arg_w: tensor<4x2x3x3xf16>) -> tensor<1x4x8x8xf16> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<1x4x8x8xf16>) -> tensor<1x4x8x8xf16> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<4x2x3x3xf16>) -> tensor<4x2x3x3xf16> loc("w")
  %y = "tpu.Conv2D"(%x, %w, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], group = 2 : i64, with_bias = false} : (tensor<1x4x8x8xf16>, tensor<4x2x3x3xf16>, none) -> tensor<1x4x8x8xf16> loc("y")
  return %y : tensor<1x4x8x8xf16>
}

// CHECK-LABEL: func.func @filter_is_computed
// CHECK: %3 = "tpu.Conv2D"(%1, %2, %0){{.*}}-> tensor<1x4x8x8xf16>
// CHECK-NEXT: return %3
