// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --weight-reorder="measure=false" | filecheck %s
// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --weight-reorder | filecheck %s --check-prefix=COST
// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --weight-reorder="use_3ic=false" | filecheck %s --check-prefix=OFF
// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --weight-reorder="merge_columns=true" | filecheck %s --check-prefix=BOTH

// 3 channels x 3 x 3 fit into the 32 parallel channels, but each merged column is one more load.
// CHECK-LABEL: module @first
// CHECK-SAME: module.state = "TPU_REORDERED"
// CHECK: "top.Weight"() : () -> tensor<1x8x1x96xf16> loc([[F:#loc[0-9]+]])
// CHECK: "top.Weight"() : () -> tensor<1x8x1x1xf32> loc([[B:#loc[0-9]+]])
// CHECK: use_3ic_optimize = 17 : i64
// CHECK-DAG: [[F]] = loc("conv_filter_reorderd")
// CHECK-DAG: [[B]] = loc("b")
// COST-LABEL: module @first
// COST: use_3ic_optimize = 0 : i64
// BOTH-LABEL: module @first
// BOTH: "top.Weight"() : () -> tensor<1x8x1x32xf16>
// BOTH: use_3ic_optimize = 19 : i64
// OFF-LABEL: module @first
// OFF: "top.Weight"() : () -> tensor<1x8x1x288xf16>
// OFF: use_3ic_optimize = 0 : i64
module @first attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x3x8x8xf16>) -> tensor<1x8x6x6xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<8x3x3x3xf16> loc("w")
    %2 = "top.Weight"() : () -> tensor<8xf32> loc("b")
    %3 = "tpu.Conv2D"(%0, %1, %2) {kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = true} : (tensor<1x3x8x8xf16>, tensor<8x3x3x3xf16>, tensor<8xf32>) -> tensor<1x8x6x6xf16> loc("conv")
    return %3 : tensor<1x8x6x6xf16>
  }
}

// -----

// The input has another user: it must survive the spreading (0x20 in addition).
// CHECK-LABEL: module @shared_input
// CHECK: use_3ic_optimize = 49 : i64
module @shared_input attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x3x8x8xf16>) -> (tensor<1x8x6x6xf16>, tensor<1x3x8x8xf16>) {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<8x3x3x3xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x3x8x8xf16>, tensor<8x3x3x3xf16>, none) -> tensor<1x8x6x6xf16> loc("conv")
    %3 = "tpu.Relu"(%0) : (tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16> loc("relu")
    return %2, %3 : tensor<1x8x6x6xf16>, tensor<1x3x8x8xf16>
  }
}

// -----

// A filter that is computed is laid out by ops: 3 channels fill up to 32, which come last.
// CHECK-LABEL: module @computed
// CHECK: "tpu.Pad"({{.*}}paddings = [0, 0, 0, 0, 29, 0]{{.*}} -> tensor<8x32x9xf16>
// CHECK: "tpu.Permute"({{.*}}order = [0, 1, 3, 2]{{.*}} -> tensor<8x1x9x32xf16>
// CHECK: "tpu.Conv2D"({{.*}}) {{.*}}use_3ic_optimize = 0 : i64{{.*}} : (tensor<1x3x8x8xf16>, tensor<1x8x1x288xf16>, none)
module @computed attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x3x8x8xf16>, %arg1: tensor<8x3x3x3xf16>) -> tensor<1x8x6x6xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<8x3x3x3xf16>) -> tensor<8x3x3x3xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x3x8x8xf16>, tensor<8x3x3x3xf16>, none) -> tensor<1x8x6x6xf16> loc("conv")
    return %2 : tensor<1x8x6x6xf16>
  }
}

// -----

// In f32 nothing moves.
// CHECK-LABEL: module @computed_f32
// CHECK-NOT: "tpu.Permute"
// CHECK: "tpu.Reshape"({{.*}} -> tensor<1x8x3x9xf32>
// CHECK: "tpu.Conv2D"({{.*}} : (tensor<1x3x8x8xf32>, tensor<1x8x3x9xf32>, none)
module @computed_f32 attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<8x3x3x3xf32>) -> tensor<8x3x3x3xf32> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>, none) -> tensor<1x8x6x6xf32> loc("conv")
    return %2 : tensor<1x8x6x6xf32>
  }
}

// -----

// CHECK-LABEL: module @matmul
// CHECK: "tpu.MatMul"({{.*}} : (tensor<2x5x8xf16>, tensor<1x8x6xf16>, tensor<1x1x1x6xf16>, none, none)
module @matmul attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x5x8xf16>) -> tensor<2x5x6xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<2x5x8xf16>) -> tensor<2x5x8xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<8x6xf16> loc("w")
    %2 = "top.Weight"() : () -> tensor<6xf16> loc("b")
    %3 = "tpu.MatMul"(%0, %1, %2, %n, %n) : (tensor<2x5x8xf16>, tensor<8x6xf16>, tensor<6xf16>, none, none) -> tensor<2x5x6xf16> loc("mm")
    return %3 : tensor<2x5x6xf16>
  }
}

// -----

// Rows of ten numbers are loaded as columns, which takes far less; those of 128 stay.
// CHECK-LABEL: module @classes
// CHECK: "tpu.MatMul"({{.*}}right_transpose = true{{.*}} : (tensor<1x512xf16>, tensor<10x512xf16>, none, none, none)
// CHECK: "tpu.MatMul"({{.*}}) : (tensor<1x512xf16>, tensor<512x128xf16>, none, none, none)
module @classes attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x512xf16>) -> (tensor<1x10xf16>, tensor<1x128xf16>) {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x512xf16>) -> tensor<1x512xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<512x10xf16> loc("w")
    %2 = "top.Weight"() : () -> tensor<512x128xf16> loc("v")
    %3 = "tpu.MatMul"(%0, %1, %n, %n, %n) : (tensor<1x512xf16>, tensor<512x10xf16>, none, none, none) -> tensor<1x10xf16> loc("few")
    %4 = "tpu.MatMul"(%0, %2, %n, %n, %n) : (tensor<1x512xf16>, tensor<512x128xf16>, none, none, none) -> tensor<1x128xf16> loc("many")
    return %3, %4 : tensor<1x10xf16>, tensor<1x128xf16>
  }
}

// -----

// Requantisation, bias and filter of a quantised convolution become one weight: 12 bytes of factors
// and 4 of bias, then the filter from byte 64 on (7 columns of 3 * 7 channels, in blocks of 64).
// CHECK-LABEL: module @quantised
// CHECK: [[NONE:%[0-9]+]] = "top.None"
// CHECK: [[W:%[0-9]+]] = "top.Weight"() : () -> tensor<1x64x1x512xsi8> loc([[M:#loc[0-9]+]])
// CHECK-NOT: top.Weight
// CHECK: "tpu.Conv2D"({{%[0-9]+}}, [[W]], [[NONE]])
// CHECK-SAME: coeff_merged = true
// CHECK-NOT: multiplier
// CHECK-SAME: use_3ic_optimize = 1 : i64
// CHECK: [[M]] = loc("conv_merge")
// COST-LABEL: module @quantised
// COST: use_3ic_optimize = 1 : i64
// OFF-LABEL: module @quantised
// OFF: tensor<1x64x1x3200xsi8>
module @quantised attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x3x224x224x!quant.uniform<i8:f32, 0.04>>) -> tensor<1x64x112x112x!quant.uniform<u8:f32, 0.02>> {
    %0 = "top.Input"(%arg0) : (tensor<1x3x224x224x!quant.uniform<i8:f32, 0.04>>) -> tensor<1x3x224x224x!quant.uniform<i8:f32, 0.04>> loc("x")
    %1 = "top.Weight"() : () -> tensor<64x3x7x7xsi8> loc("w")
    %2 = "top.Weight"() : () -> tensor<1x64x1x1xi32> loc("b")
    %3 = "tpu.Conv2D"(%0, %1, %2) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [2, 2], multiplier = [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], rshift = [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], with_bias = true} : (tensor<1x3x224x224x!quant.uniform<i8:f32, 0.04>>, tensor<64x3x7x7xsi8>, tensor<1x64x1x1xi32>) -> tensor<1x64x112x112x!quant.uniform<u8:f32, 0.02>> loc("conv")
    return %3 : tensor<1x64x112x112x!quant.uniform<u8:f32, 0.02>>
  }
}

// -----

// Rows alone where rows and columns would fit: 3 columns of 3 * 3 channels in blocks of 64.
// CHECK-LABEL: module @rows_only
// CHECK: tensor<1x2x1x256xsi8>
// CHECK: use_3ic_optimize = 1 : i64
// BOTH-LABEL: module @rows_only
// BOTH: tensor<1x2x1x128xsi8>
// BOTH: use_3ic_optimize = 3 : i64
module @rows_only attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x3x8x8x!quant.uniform<i8:f32, 0.04>>) -> tensor<1x2x6x6x!quant.uniform<u8:f32, 0.02>> {
    %0 = "top.Input"(%arg0) : (tensor<1x3x8x8x!quant.uniform<i8:f32, 0.04>>) -> tensor<1x3x8x8x!quant.uniform<i8:f32, 0.04>> loc("x")
    %1 = "top.Weight"() : () -> tensor<2x3x3x3xsi8> loc("w")
    %2 = "top.Weight"() : () -> tensor<1x2x1x1xi32> loc("b")
    %3 = "tpu.Conv2D"(%0, %1, %2) {kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], multiplier = [3, 3], rshift = [9, 9], with_bias = true} : (tensor<1x3x8x8x!quant.uniform<i8:f32, 0.04>>, tensor<2x3x3x3xsi8>, tensor<1x2x1x1xi32>) -> tensor<1x2x6x6x!quant.uniform<u8:f32, 0.02>> loc("conv")
    return %3 : tensor<1x2x6x6x!quant.uniform<u8:f32, 0.02>>
  }
}

// -----

// 16 channels of 3 rows fill the cube better, but the convolution before must store its result then.
// CHECK-LABEL: module @behind_another
// CHECK: use_3ic_optimize = 0 : i64
// CHECK: use_3ic_optimize = 17 : i64
// COST-LABEL: module @behind_another
// COST: use_3ic_optimize = 0 : i64
// COST: use_3ic_optimize = 0 : i64
module @behind_another attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64x32x32xf16>) -> tensor<1x16x32x32xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x64x32x32xf16>) -> tensor<1x64x32x32xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<16x64x1x1xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x32x32xf16>, tensor<16x64x1x1xf16>, none) -> tensor<1x16x32x32xf16> loc("a")
    %3 = "top.Weight"() : () -> tensor<16x16x3x3xf16> loc("v")
    %4 = "tpu.Conv2D"(%2, %3, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x16x32x32xf16>, tensor<16x16x3x3xf16>, none) -> tensor<1x16x32x32xf16> loc("b")
    return %4 : tensor<1x16x32x32xf16>
  }
}

// -----

// An image is loaded in any case.
// COST-LABEL: module @on_an_image
// COST: use_3ic_optimize = 17 : i64
module @on_an_image attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x3x64x64xf16>) -> tensor<1x64x32x32xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x3x64x64xf16>) -> tensor<1x3x64x64xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<64x3x7x7xf16> loc("w")
    %2 = "tpu.Conv2D"(%0, %1, %n) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [2, 2], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x3x64x64xf16>, tensor<64x3x7x7xf16>, none) -> tensor<1x64x32x32xf16> loc("a")
    return %2 : tensor<1x64x32x32xf16>
  }
}
