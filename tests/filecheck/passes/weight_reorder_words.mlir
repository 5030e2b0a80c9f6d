// RUN: tpu-opt %s --split-input-file --weight-reorder | filecheck %s

// A chip whose tables of requantisation have two words a channel: of 40 channels in 32 lanes 2 * 8
// bytes of factors and 2 * 4 of biases, then 2 filters of 32 bytes from byte 32 on. The op says so.
// CHECK-LABEL: module @two_words
// CHECK: "top.Weight"() : () -> tensor<1x32x1x96xsi8>
// CHECK: "tpu.Conv2D"
// CHECK-SAME: coeff_merged = true
// CHECK-SAME: filter_row = 32 : i64
// CHECK-SAME: requant_words = 2 : i64
module @two_words attributes {module.chip = "bm1688", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x40x4x4x!quant.uniform<u8:f32, 0.02>> {
    %0 = "top.Input"(%arg0) : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>> loc("x")
    %1 = "top.Weight"() : () -> tensor<40x32x1x1xsi8> loc("w")
    %2 = "top.Weight"() : () -> tensor<1x40x1x1xi32> loc("b")
    %3 = "tpu.Conv2D"(%0, %1, %2) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], multiplier = [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], rshift = [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], with_bias = true} : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>, tensor<40x32x1x1xsi8>, tensor<1x40x1x1xi32>) -> tensor<1x40x4x4x!quant.uniform<u8:f32, 0.02>> loc("conv")
    return %3 : tensor<1x40x4x4x!quant.uniform<u8:f32, 0.02>>
  }
}

// -----

// Three words, 12 bytes of them and 4 of bias, and filters of 64 bytes: what is usual goes without saying.
// CHECK-LABEL: module @three_words
// CHECK: "top.Weight"() : () -> tensor<1x40x1x128xsi8>
// CHECK: coeff_merged = true
// CHECK-NOT: requant_words
module @three_words attributes {module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x40x4x4x!quant.uniform<u8:f32, 0.02>> {
    %0 = "top.Input"(%arg0) : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>> loc("x")
    %1 = "top.Weight"() : () -> tensor<40x32x1x1xsi8> loc("w")
    %2 = "top.Weight"() : () -> tensor<1x40x1x1xi32> loc("b")
    %3 = "tpu.Conv2D"(%0, %1, %2) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], multiplier = [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], rshift = [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], with_bias = true} : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>, tensor<40x32x1x1xsi8>, tensor<1x40x1x1xi32>) -> tensor<1x40x4x4x!quant.uniform<u8:f32, 0.02>> loc("conv")
    return %3 : tensor<1x40x4x4x!quant.uniform<u8:f32, 0.02>>
  }
}

// -----

// Floats have no such words.
// CHECK-LABEL: module @floats
// CHECK: "tpu.Conv2D"
// CHECK-SAME: filter_row = 32 : i64
// CHECK-NOT: requant_words
module @floats attributes {module.chip = "bm1688", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x32x4x4xf16>) -> tensor<1x40x4x4xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x32x4x4xf16>) -> tensor<1x32x4x4xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<40x32x1x1xf16> loc("w")
    %2 = "top.Weight"() : () -> tensor<40xf32> loc("b")
    %3 = "tpu.Conv2D"(%0, %1, %2) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], with_bias = true} : (tensor<1x32x4x4xf16>, tensor<40x32x1x1xf16>, tensor<40xf32>) -> tensor<1x40x4x4xf16> loc("conv")
    return %3 : tensor<1x40x4x4xf16>
  }
}
