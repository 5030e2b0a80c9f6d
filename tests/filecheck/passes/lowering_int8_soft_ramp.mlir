// RUN: tpu-opt %s --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=INT8 chip=bm1684x" | filecheck %s
// RUN: tpu-opt %s --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=INT8 chip=bm1684x by_tables=true" | filecheck %s --check-prefix=TABLES
// RUN: tpu-opt %s --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=INT8 chip=bm1684x asymmetric=true" | filecheck %s --check-prefix=POINTS

// A function that is nearly a ramp is one less a polynomial, of integers and of floats that 8 bits would be enough for; another is no ramp.
// CHECK: "tpu.SoftRamp"(%{{.*}}) {factor = 1.000000e+00 : f64, {{.*}}} : (tensor<2x8xf16>) -> tensor<2x8x!quant.calibrated<f16<{{[^>]*}}>>> loc("gelu")
// CHECK: "tpu.Lut"
// CHECK: "tpu.SoftRamp"(%{{.*}}) {factor = {{.*}}, limit = {{.*}}, scale = {{.*}}, terms = [{{.*}}], unit = {{.*}}} : (tensor<2x8x!quant.uniform<i8:f32, {{[^>]*}}>>) -> tensor<2x8x!quant.uniform<i8:f32, {{[^>]*}}>> loc("silu")
// CHECK: "tpu.Active"{{.*}}active_mode TANH{{.*}}f16
// TABLES-NOT: tpu.SoftRamp
// POINTS-NOT: tpu.SoftRamp
module @functions attributes {module.state = "TOP_CALIBRATED"} {
  func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-1.0:1.0>>> {
    %1 = "top.Input"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> loc("x")
    %2 = "top.GELU"(%1) {approx_mode = "normal"} : (tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> loc("gelu")
    %3 = "top.Sinh"(%2) : (tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-1.0:4.0>>> loc("sinh")
    %4 = "top.SiLU"(%3) : (tensor<2x8x!quant.calibrated<f32<-1.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> loc("silu")
    %5 = "top.Tanh"(%4) : (tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-1.0:1.0>>> loc("tanh")
    return %5 : tensor<2x8x!quant.calibrated<f32<-1.0:1.0>>>
  }
}
