// RUN: tpu-opt %s --convert-top-to-tpu="mode=INT8 chip=bm1684x" --no-locations | filecheck %s

// Reductions over channels are of floats in networks of integers, too, and stay out of DDR there.
// CHECK: [[W:%.*]] = "top.Weight"() : () -> tensor<1x8x1x1xf16>
// CHECK-NEXT: "tpu.Conv2D"({{.*}}, [[W]], {{.*}}kernel_shape = [1, 1]{{.*}}-> tensor<2x1x4x6x!quant.calibrated<f16
// CHECK: [[T:%.*]] = "tpu.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<2x6x4x8xf16>
// CHECK-NEXT: [[M:%.*]] = "tpu.Reduce"([[T]]{{.*}}axes = [3]{{.*}}-> tensor<2x6x4x1xf16>
// CHECK-NEXT: "tpu.Permute"([[M]]{{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<2x1x4x6x!quant.calibrated<f16
module attributes {module.state = "TOP_CALIBRATED"} {
  func.func @main(%arg0: tensor<2x8x4x6xf32>) -> (tensor<2x1x4x6x!quant.calibrated<f32<-1.0:1.0>>>, tensor<2x1x4x6x!quant.calibrated<f32<-1.0:1.0>>>) {
    %x = "top.Input"(%arg0) : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6x!quant.calibrated<f32<-1.0:1.0>>> loc("x")
    %y = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<2x8x4x6x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<2x1x4x6x!quant.calibrated<f32<-1.0:1.0>>> loc("y")
    %z = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceMax"} : (tensor<2x8x4x6x!quant.calibrated<f32<-1.0:1.0>>>) -> tensor<2x1x4x6x!quant.calibrated<f32<-1.0:1.0>>> loc("z")
    return %y, %z : tensor<2x1x4x6x!quant.calibrated<f32<-1.0:1.0>>>, tensor<2x1x4x6x!quant.calibrated<f32<-1.0:1.0>>>
  }
}
