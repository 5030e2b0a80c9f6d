// RUN: not tpu-opt %s --convert-oneflow-to-top 2>&1 | filecheck %s

// What has no counterpart is said of all ops at once, with what to do.

// CHECK: error: convert-oneflow-to-top: 2 of @training cannot be converted:
// CHECK-NEXT: oneflow.normalization "norm": it is in training; make it oneflow.normalization_infer or set training = false
// CHECK-NEXT: oneflow.max_pool_2d "pool": its indices cannot be used
// CHECK-NOT: Traceback

oneflow.job @training(%a: tensor<1x4x6x6xf32>, %g: tensor<4xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x4x3x3xi64>) {
  %x = "oneflow.input"(%a) {op_name = "x"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %0, %1, %2 = "oneflow.normalization"(%x, %g, %g, %g, %g) {axis = 1 : si32, epsilon = 1.0e-5 : f32, momentum = 0.9 : f32, op_name = "norm", operand_segment_sizes = array<i32: 1, 1, 1, 1, 1, 0>, result_segment_sizes = array<i32: 1, 1, 1>, training = true} : (tensor<1x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>)
  %p, %i = "oneflow.max_pool_2d"(%x) {ceil_mode = false, data_format = "channels_first", dilation = [1 : si32, 1 : si32], kernel_size = [2 : si32, 2 : si32], op_name = "pool", padding = [0 : si32, 0 : si32], return_indices = true, stride = [2 : si32, 2 : si32]} : (tensor<1x4x6x6xf32>) -> (tensor<1x4x3x3xf32>, tensor<1x4x3x3xi64>)
  oneflow.return %0, %i : tensor<1x4x6x6xf32>, tensor<1x4x3x3xi64>
}
