// RUN: tpu-opt %s --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=INT8 chip=bm1684x" | filecheck %s
// RUN: tpu-opt %s --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=INT8 chip=bm1684x by_tables=true" | filecheck %s --check-prefix=TABLES

// A function that F16 computes faster than a table gives it, and one that it does not.
// CHECK: "tpu.Active"{{.*}}TANH{{.*}}f16
// CHECK: "tpu.Lut"
// TABLES-NOT: tpu.Active
// TABLES: "tpu.Lut"
// TABLES-NOT: tpu.Active
// TABLES: "tpu.Lut"
module @functions attributes {module.state = "TOP_CALIBRATED"} {
  func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> {
    %1 = "top.Input"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> loc("x")
    %2 = "top.Tanh"(%1) : (tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> loc("tanh")
    %3 = "top.Sinh"(%2) : (tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>) -> tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>> loc("sinh")
    return %3 : tensor<2x8x!quant.calibrated<f32<-4.0:4.0>>>
  }
}
