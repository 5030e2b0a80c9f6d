// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=INT8 chip=bm1684x" | filecheck %s
// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=INT8 chip=bm1684x by_need=true" | filecheck %s --check-prefix=NEED

// A filter of single channels between two functions, which F16 computes faster: no casts are left.
// CHECK-LABEL: module @between_functions
// CHECK: "tpu.Active"{{.*}}HSWISH
// CHECK-NEXT: "top.Weight"
// CHECK-NEXT: "tpu.Conv2D"{{.*}}tensor<64x1x1x1xf16>
// CHECK-NEXT: "tpu.Active"{{.*}}HSWISH
// NEED-LABEL: module @between_functions
// NEED: "tpu.Conv2D"{{.*}}tensor<64x1x1x1xsi8>
module @between_functions attributes {module.state = "TOP_CALIBRATED"} {
  func.func @main(%arg0: tensor<1x64x4x4xf32>) -> tensor<1x64x4x4x!quant.calibrated<f32<-4.0:4.0>>> {
    %0 = "top.None"() : () -> none
    %1 = "top.Input"(%arg0) : (tensor<1x64x4x4xf32>) -> tensor<1x64x4x4x!quant.calibrated<f32<-4.0:4.0>>> loc("x")
    %2 = "top.Upsample"(%1) {scale_h = 16 : i64, scale_w = 16 : i64} : (tensor<1x64x4x4x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>> loc("large")
    %3 = "top.HardSwish"(%2) : (tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>> loc("before")
    %4 = "top.Weight"() : () -> tensor<64x1x1x1xf32> loc("random_64x1x1x1")
    %5 = "top.Conv"(%3, %4, %0) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 64 : i64} : (tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>>, tensor<64x1x1x1xf32>, none) -> tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>> loc("filter")
    %6 = "top.HardSwish"(%5) : (tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>> loc("behind")
    %7 = "top.MaxPool"(%6) {kernel_shape = [16, 16], pads = [0, 0, 0, 0], strides = [16, 16]} : (tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<1x64x4x4x!quant.calibrated<f32<-4.0:4.0>>> loc("small")
    return %7 : tensor<1x64x4x4x!quant.calibrated<f32<-4.0:4.0>>>
  }
}

// -----

// A network that waits for what is loaded and stored stays as it is.
// CHECK-LABEL: module @waits
// CHECK: "tpu.Conv2D"{{.*}}tensor<64x1x1x1xsi8>
// NEED-LABEL: module @waits
module @waits attributes {module.state = "TOP_CALIBRATED"} {
  func.func @main(%arg0: tensor<1x64x64x64xf32>) -> tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>> {
    %0 = "top.None"() : () -> none
    %1 = "top.Input"(%arg0) : (tensor<1x64x64x64xf32>) -> tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>> loc("x")
    %3 = "top.HardSwish"(%1) : (tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>> loc("before")
    %4 = "top.Weight"() : () -> tensor<64x1x1x1xf32> loc("random_64x1x1x1")
    %5 = "top.Conv"(%3, %4, %0) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], group = 64 : i64} : (tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>>, tensor<64x1x1x1xf32>, none) -> tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>> loc("filter")
    return %5 : tensor<1x64x64x64x!quant.calibrated<f32<-4.0:4.0>>>
  }
}

// -----

// A product of many inputs stays in 8 bits, and so does what has no gain of its own beside it.
// CHECK-LABEL: module @product
// CHECK: "tpu.MatMul"{{.*}}tensor<64x64xi8>
// CHECK: "tpu.Relu"{{.*}}!quant.uniform
// NEED-LABEL: module @product
module @product attributes {module.state = "TOP_CALIBRATED"} {
  func.func @main(%arg0: tensor<4096x64xf32>) -> tensor<4096x64x!quant.calibrated<f32<0.0:4.0>>> {
    %0 = "top.None"() : () -> none
    %1 = "top.Input"(%arg0) : (tensor<4096x64xf32>) -> tensor<4096x64x!quant.calibrated<f32<-4.0:4.0>>> loc("x")
    %2 = "top.Weight"() : () -> tensor<64x64xf32> loc("random_64x64")
    %3 = "top.MatMul"(%1, %2, %0) : (tensor<4096x64x!quant.calibrated<f32<-4.0:4.0>>>, tensor<64x64xf32>, none) -> tensor<4096x64x!quant.calibrated<f32<-4.0:4.0>>> loc("product")
    %4 = "top.Relu"(%3) : (tensor<4096x64x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<4096x64x!quant.calibrated<f32<0.0:4.0>>> loc("relu")
    return %4 : tensor<4096x64x!quant.calibrated<f32<0.0:4.0>>>
  }
}
