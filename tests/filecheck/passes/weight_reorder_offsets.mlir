// RUN: tpu-opt %s --split-input-file --weight-reorder | filecheck %s
// RUN: tpu-opt %s --split-input-file --weight-reorder="offsets=false" | filecheck %s --check-prefix=OFF

// The bias is part of the scaling: 8 bytes of 12, and no bias behind them. The filter is where it was.
// CHECK-LABEL: module @biased
// CHECK: "top.Weight"() : () -> tensor<1x4x1x128xsi8>
// CHECK: "tpu.Conv2D"
// CHECK-SAME: coeff_merged = true
// CHECK-SAME: requant_floats = true
// OFF-LABEL: module @biased
// OFF: coeff_merged = true
// OFF-NOT: requant_floats
module @biased attributes {module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>> {
    %0 = "top.Input"(%arg0) : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>> loc("x")
    %1 = "top.Weight"() : () -> tensor<4x32x1x1xsi8> loc("w")
    %2 = "top.Weight"() : () -> tensor<1x4x1x1xi32> loc("b")
    %3 = "tpu.Conv2D"(%0, %1, %2) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], multiplier = [3, 3, 3, 3], rshift = [9, 9, 9, 9], with_bias = true} : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>, tensor<4x32x1x1xsi8>, tensor<1x4x1x1xi32>) -> tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>> loc("conv")
    return %3 : tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>>
  }
}

// -----

// Of three places of a lane each has its words in a line of its own, and the biases were behind the
// last one's.
// CHECK-LABEL: module @places
// CHECK: "top.Weight"() : () -> tensor<1x64x1x384xsi8>
// CHECK: requant_floats = true
module @places attributes {module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x129x4x4x!quant.uniform<u8:f32, 0.02>> {
    %0 = "top.Input"(%arg0) : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>> loc("x")
    %1 = "top.Weight"() : () -> tensor<129x32x1x1xsi8> loc("w")
    %2 = "top.Weight"() : () -> tensor<1x129x1x1xi32> loc("b")
    %3 = "tpu.Conv2D"(%0, %1, %2) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], multiplier = [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], rshift = [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], with_bias = true} : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>, tensor<129x32x1x1xsi8>, tensor<1x129x1x1xi32>) -> tensor<1x129x4x4x!quant.uniform<u8:f32, 0.02>> loc("conv")
    return %3 : tensor<1x129x4x4x!quant.uniform<u8:f32, 0.02>>
  }
}

// -----

// Nothing to add: scaling stays in integers.
// CHECK-LABEL: module @plain
// CHECK: coeff_merged = true
// CHECK-NOT: requant_floats
module @plain attributes {module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>> loc("x")
    %1 = "top.Weight"() : () -> tensor<4x32x1x1xsi8> loc("w")
    %3 = "tpu.Conv2D"(%0, %1, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], multiplier = [3, 3, 3, 3], rshift = [9, 9, 9, 9], with_bias = false} : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>, tensor<4x32x1x1xsi8>, none) -> tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>> loc("conv")
    return %3 : tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>>
  }
}

// -----

// Commands of depthwise filters add the bias themselves.
// CHECK-LABEL: module @depthwise
// CHECK: coeff_merged = true
// CHECK-NOT: requant_floats
module @depthwise attributes {module.chip = "bm1684x", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x4x2x2x!quant.uniform<u8:f32, 0.02>> {
    %0 = "top.Input"(%arg0) : (tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>> loc("x")
    %1 = "top.Weight"() : () -> tensor<4x1x3x3xsi8> loc("w")
    %2 = "top.Weight"() : () -> tensor<1x4x1x1xi32> loc("b")
    %3 = "tpu.Conv2D"(%0, %1, %2) {group = 4 : i64, kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1], multiplier = [3, 3, 3, 3], rshift = [9, 9, 9, 9], with_bias = true} : (tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>>, tensor<4x1x3x3xsi8>, tensor<1x4x1x1xi32>) -> tensor<1x4x2x2x!quant.uniform<u8:f32, 0.02>> loc("conv")
    return %3 : tensor<1x4x2x2x!quant.uniform<u8:f32, 0.02>>
  }
}

// -----

// So do all convolutions of a chip whose products have a scale.
// CHECK-LABEL: module @scaled_products
// CHECK: coeff_merged = true
// CHECK-NOT: requant_floats
module @scaled_products attributes {module.chip = "bm1688", module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>> {
    %0 = "top.Input"(%arg0) : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>) -> tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>> loc("x")
    %1 = "top.Weight"() : () -> tensor<4x32x1x1xsi8> loc("w")
    %2 = "top.Weight"() : () -> tensor<1x4x1x1xi32> loc("b")
    %3 = "tpu.Conv2D"(%0, %1, %2) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], multiplier = [3, 3, 3, 3], rshift = [9, 9, 9, 9], with_bias = true} : (tensor<1x32x4x4x!quant.uniform<u8:f32, 0.02>>, tensor<4x32x1x1xsi8>, tensor<1x4x1x1xi32>) -> tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>> loc("conv")
    return %3 : tensor<1x4x4x4x!quant.uniform<u8:f32, 0.02>>
  }
}
