// RUN: tpu-opt %s --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=INT8 chip=bm1684x" | filecheck %s
// RUN: tpu-opt %s --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=INT8 chip=bm1684x asymmetric=true" | filecheck %s --check-prefix=POINTS

// What the operand of a SiLU has beyond the range of its result is cut off where that changes nothing; a result takes a range that is hardly larger; else, and where others read the operand, ranges stay.
// CHECK: quant.uniform<i8:f32, 0.0787401{{[0-9]*}}>> loc("far")
// CHECK: factor = 1.000000e+00 {{.*}}quant.uniform<i8:f32, 0.0787401{{[0-9]*}}>> loc("cut")
// CHECK: quant.uniform<i8:f32, 0.0242519{{[0-9]*}}>> loc("near")
// CHECK: factor = 1.000000e+00 {{.*}}quant.uniform<i8:f32, 0.0242519{{[0-9]*}}>> loc("wider")
// CHECK: quant.uniform<i8:f32, 0.0314960{{[0-9]*}}>> loc("steep")
// CHECK: quant.uniform<i8:f32, 0.0157480{{[0-9]*}}>> loc("apart")
// CHECK: quant.uniform<i8:f32, 0.1574803{{[0-9]*}}>> loc("read")
// CHECK: quant.uniform<i8:f32, 0.0787401{{[0-9]*}}>> loc("kept")
// POINTS-NOT: factor = 1.000000e+00
module @ramps attributes {module.state = "TOP_CALIBRATED"} {
  func.func @main(%arg0: tensor<2x8xf32>) -> (tensor<2x8x!quant.calibrated<f32<-10.0:10.0>>>, tensor<2x8x!quant.calibrated<f32<-10.0:10.0>>>) {
    %1 = "top.Input"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> loc("x")
    %2 = "top.Add"(%1, %1) : (tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>, tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-20.0:20.0>>> loc("far")
    %3 = "top.SiLU"(%2) : (tensor<2x8x!quant.calibrated<f32<-20.0:20.0>>>) -> tensor<2x8x!quant.calibrated<f32<-10.0:10.0>>> loc("cut")
    %4 = "top.Add"(%3, %1) : (tensor<2x8x!quant.calibrated<f32<-10.0:10.0>>>, tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-3.08:3.08>>> loc("near")
    %5 = "top.SiLU"(%4) : (tensor<2x8x!quant.calibrated<f32<-3.08:3.08>>>) -> tensor<2x8x!quant.calibrated<f32<-3.0:3.0>>> loc("wider")
    %6 = "top.Add"(%5, %1) : (tensor<2x8x!quant.calibrated<f32<-3.0:3.0>>>, tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> loc("steep")
    %7 = "top.SiLU"(%6) : (tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-2.0:2.0>>> loc("apart")
    %8 = "top.Add"(%7, %1) : (tensor<2x8x!quant.calibrated<f32<-2.0:2.0>>>, tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-20.0:20.0>>> loc("read")
    %9 = "top.SiLU"(%8) : (tensor<2x8x!quant.calibrated<f32<-20.0:20.0>>>) -> tensor<2x8x!quant.calibrated<f32<-10.0:10.0>>> loc("kept")
    %10 = "top.Add"(%8, %9) : (tensor<2x8x!quant.calibrated<f32<-20.0:20.0>>>, tensor<2x8x!quant.calibrated<f32<-10.0:10.0>>>) -> tensor<2x8x!quant.calibrated<f32<-10.0:10.0>>> loc("y")
    return %10, %9 : tensor<2x8x!quant.calibrated<f32<-10.0:10.0>>>, tensor<2x8x!quant.calibrated<f32<-10.0:10.0>>>
  }
}
