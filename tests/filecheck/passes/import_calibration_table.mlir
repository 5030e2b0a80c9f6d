// RUN: tpu-opt %s --split-input-file --import-calibration-table="file=%S/Inputs/ranges.cali asymmetric=false" | filecheck %s
// RUN: tpu-opt %s --split-input-file --import-calibration-table="file=%S/Inputs/ranges.cali" | filecheck %s --check-prefix=ASYM
// RUN: tpu-opt %s --split-input-file --import-calibration-table | filecheck %s --check-prefix=NONE

// Signed ranges are +- the threshold, others start at 0; a Reshape without a line takes over.
// NONE-LABEL: module @lines
// NONE-SAME: TOP_F32
// NONE-NOT: quant
// CHECK-LABEL: module @lines
// CHECK-SAME: module.state = "TOP_CALIBRATED"
// CHECK: "top.Input"{{.*}} -> tensor<1x4x!quant.calibrated<f32<-2.500000e+00:2.500000e+00>>>
// CHECK: "top.Relu"{{.*}} -> tensor<1x4x!quant.calibrated<f32<0.000000e+00:1.500000e+00>>>
// CHECK: "top.Reshape"{{.*}} -> tensor<4x!quant.calibrated<f32<0.000000e+00:1.500000e+00>>>
// CHECK: return {{.*}} : tensor<4x!quant.calibrated<
// By default a range is what was seen, zero included.
// ASYM-LABEL: module @lines
// ASYM: "top.Input"{{.*}} -> tensor<1x4x!quant.calibrated<f32<-2.500000e+00:2.250000e+00>>>
// ASYM-LABEL: module @by_op
module @lines attributes {module.state = "TOP_F32"} {
  func.func @main(%arg0: tensor<1x4xf32>) -> tensor<4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("x")
    %1 = "top.Relu"(%0) {relu_limit = -1.0 : f64} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("relu")
    %2 = "top.Reshape"(%1) {shape = [4]} : (tensor<1x4xf32>) -> tensor<4xf32> loc("flat")
    return %2 : tensor<4xf32>
  }
}

// -----

// Shares of a Softmax reach up to four times what was seen, as those of other inputs may.
// CHECK-LABEL: module @long_row
// CHECK: "top.Softmax"{{.*}} -> tensor<1x900x!quant.calibrated<f32<0.000000e+00:1.000000e-02>>>
module @long_row {
  func.func @main(%arg0: tensor<1x900xf32>) -> tensor<1x900xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x900xf32>) -> tensor<1x900xf32> loc("x")
    %1 = "top.Softmax"(%0) {axis = 1 : si32} : (tensor<1x900xf32>) -> tensor<1x900xf32> loc("long_shares")
    return %1 : tensor<1x900xf32>
  }
}

// -----

// What an op can give beats what was seen: Softmax 0..1, a square from 0, Sub below 0 at least
// a little, Abs on both sides, a ReLU at the end from 0. An all-zero line gives no range.
// CHECK-LABEL: module @by_op
// CHECK: "top.Softmax"{{.*}} -> tensor<1x4x!quant.calibrated<f32<0.000000e+00:1.000000e+00>>>
// CHECK: "top.Mul"{{.*}} -> tensor<1x4x!quant.calibrated<f32<0.000000e+00:3.000000e+00>>>
// CHECK: "top.Sub"{{.*}} -> tensor<1x4x!quant.calibrated<f32<-{{1.*e-05}}:4.000000e+00>>>
// CHECK: "top.Abs"{{.*}} -> tensor<1x4x!quant.calibrated<f32<-5.000000e+00:5.000000e+00>>>
// CHECK: "top.Add"{{.*}} -> tensor<1x4x!quant.calibrated<f32<0.000000e+00:6.000000e+00>>>
// CHECK: "top.MulConst"{{.*}} -> tensor<1x4xf32>
module @by_op {
  func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("x")
    %1 = "top.Softmax"(%0) {axis = 1 : si32} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("softmax")
    %2 = "top.Mul"(%1, %1) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("square")
    %3 = "top.Sub"(%2, %1) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("sub")
    %4 = "top.Abs"(%3) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("abs")
    %5 = "top.Add"(%4, %3) {do_relu = true} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("add")
    %6 = "top.MulConst"(%5) {const_val = 0.0 : f64} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("dead")
    return %6 : tensor<1x4xf32>
  }
}

// -----

// Logarithms of shares and of Sigmoid are negative, and products of them have either sign.
// CHECK-LABEL: module @logarithms
// CHECK: "top.Softmax"{{.*}} -> tensor<1x4x!quant.calibrated<f32<-7.000000e+00:7.000000e+00>>>
// CHECK: "top.Sigmoid"{{.*}} -> tensor<1x4x!quant.calibrated<f32<-6.000000e+00:6.000000e+00>>>
// CHECK: "top.Mul"{{.*}} -> tensor<1x4x!quant.calibrated<f32<-5.000000e+00:5.000000e+00>>>
module @logarithms {
  func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("x")
    %1 = "top.Softmax"(%0) {axis = 1 : si32, log = true} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("log_shares")
    %2 = "top.Sigmoid"(%0) {log = true} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("log_sigmoid")
    %3 = "top.Relu"(%1) {relu_limit = -1.0 : f64} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("relu")
    %4 = "top.Mul"(%2, %3) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("log_product")
    return %4 : tensor<1x4xf32>
  }
}
