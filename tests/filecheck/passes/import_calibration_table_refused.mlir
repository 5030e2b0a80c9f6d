// RUN: not tpu-opt %s --import-calibration-table="file=%S/Inputs/ranges.cali" 2>&1 | filecheck %s
// RUN: not tpu-opt %s --import-calibration-table="file=%S/Inputs/absent.cali" 2>&1 | filecheck %s --check-prefix=ABSENT
// RUN: not tpu-opt %s --import-calibration-table="file=%s" 2>&1 | filecheck %s --check-prefix=DAMAGED

// CHECK: has no line for 1 of 2 tensors; make a table for this model with tpu-calibrate, and the same --disable-pass:
// CHECK-NEXT: conv9
// ABSENT: absent.cali: no such file; make one with tpu-calibrate
// DAMAGED: expected 'name threshold min max'
module {
  func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("x")
    %1 = "top.Relu"(%0) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("conv9")
    return %1 : tensor<1x4xf32>
  }
}
