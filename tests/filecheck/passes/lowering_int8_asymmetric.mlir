// RUN: tpu-opt %s --mlir-print-debuginfo --split-input-file --weights %S/Inputs/weights.npz --convert-top-to-tpu="mode=INT8 chip=bm1684x asymmetric=true" | filecheck %s

// A range that reaches below zero has a zero point, any other has none; that of the input goes into
// a bias that was not there.
// CHECK-LABEL: module @conv
// CHECK-SAME: module.asymmetric = true
// CHECK: [[X:%.*]] = "tpu.Cast"({{%.*}}) {{.*}} -> tensor<1x3x8x8x!quant.uniform<i8:f32, 1.000000e+00:-28>>
// CHECK-NEXT: [[W:%.*]] = "top.Weight"() : () -> tensor<4x3x3x3xsi8>
// CHECK-NEXT: [[B:%.*]] = "top.Weight"() : () -> tensor<1x4x1x1xi32>
// CHECK-NEXT: [[Y:%.*]] = "tpu.Conv2D"([[X]], [[W]], [[B]]) {{.*}}with_bias = true{{.*}} -> tensor<1x4x8x8x!quant.uniform<u8:f32, 1.000000e+00>>
module @conv attributes {module.weight_file = "weights.npz"} {
  func.func @main(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8x!quant.calibrated<f32<0.0:255.0>>> {
    %none = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8x!quant.calibrated<f32<-100.0:155.0>>> loc("x")
    %1 = "top.Weight"() : () -> tensor<4x3x3x3xf32> loc("random_4x3x3x3")
    %3 = "top.Conv"(%0, %1, %none) {do_relu = true, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x3x8x8x!quant.calibrated<f32<-100.0:155.0>>>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x8x8x!quant.calibrated<f32<0.0:255.0>>> loc("conv")
    return %3 : tensor<1x4x8x8x!quant.calibrated<f32<0.0:255.0>>>
  }
}

// -----

// Sums know no zero points and run in F16; functions and factors are tables, whose entries have
// them; operands of Concat with other steps are taken to its own by tables.
// CHECK-LABEL: module @others
// CHECK: [[M:%.*]] = "tpu.Lut"({{%.*}}, {{%.*}}) : {{.*}} -> tensor<2x8x!quant.uniform<i8:f32, 5.000000e-01:-28>>
// CHECK: "tpu.Add"({{.*}} -> tensor<2x8x!quant.calibrated<f16<
// CHECK: [[R:%.*]] = "tpu.Lut"({{%.*}}, {{%.*}}) : {{.*}} -> tensor<2x8x!quant.uniform<i8:f32, 2.000000e+00:-28>>
// CHECK: "tpu.Concat"({{.*}} -> tensor<2x16x!quant.uniform<i8:f32, 2.000000e+00:-28>>
// CHECK-NOT: tpu.MulShift
module @others attributes {module.weight_file = "weights.npz"} {
  func.func @main(%arg0: tensor<2x8xf32>) -> (tensor<2x8x!quant.calibrated<f32<-100.0:155.0>>>, tensor<2x16x!quant.calibrated<f32<-200.0:310.0>>>) {
    %0 = "top.Input"(%arg0) : (tensor<2x8xf32>) -> tensor<2x8x!quant.calibrated<f32<-100.0:155.0>>> loc("x")
    %1 = "top.MulConst"(%0) {const_val = 0.5 : f64} : (tensor<2x8x!quant.calibrated<f32<-100.0:155.0>>>) -> tensor<2x8x!quant.calibrated<f32<-50.0:77.5>>> loc("half")
    %2 = "top.Add"(%0, %1) : (tensor<2x8x!quant.calibrated<f32<-100.0:155.0>>>, tensor<2x8x!quant.calibrated<f32<-50.0:77.5>>>) -> tensor<2x8x!quant.calibrated<f32<-100.0:155.0>>> loc("sum")
    %3 = "top.Concat"(%0, %1) {axis = 1 : si32} : (tensor<2x8x!quant.calibrated<f32<-100.0:155.0>>>, tensor<2x8x!quant.calibrated<f32<-50.0:77.5>>>) -> tensor<2x16x!quant.calibrated<f32<-200.0:310.0>>> loc("both")
    return %2, %3 : tensor<2x8x!quant.calibrated<f32<-100.0:155.0>>>, tensor<2x16x!quant.calibrated<f32<-200.0:310.0>>>
  }
}
