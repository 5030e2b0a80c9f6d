// RUN: %roundtrip

// Names of results, device and scope attributes, data types, undeclared attributes: all kept.

// CHECK-LABEL: oneflow.job @system(%arg0: tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<3xf32>) {
// CHECK-NEXT: %output, %ctrl_output = "oneflow.input"(%arg0) {data_type = 9 : i32, device_name = ["@0:0"], device_tag = "cuda", hierarchy = [1], is_dynamic = false, nd_sbp = ["B"], op_name = "x", op_type_name = "input", output_lbns = ["x/out"], scope_symbol_id = 4611686018427420671 : i64, shape = [2 : si64, 3 : si64]} : (tensor<2x3xf16>) -> (tensor<2x3xf16>, i1)
// CHECK-NEXT: %output_0 = "oneflow.variable"(%ctrl_output) {data_type = 2 : i32, float_initializer = 0.000000e+00 : f32, op_name = "w", parallel = #sbp.parallel<[] -> [#sbp.B, #sbp.S<1>]>, shape = [3 : si64], trainable = false} : (i1) -> tensor<3xf32>
// CHECK-NEXT: %output_1 = "oneflow.output"(%output) {op_name = "y"} : (tensor<2x3xf16>) -> tensor<2x3xf16>
// CHECK-NEXT: oneflow.return %output_1, %output_0 : tensor<2x3xf16>, tensor<3xf32>
oneflow.job @system(%a: tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<3xf32>)
{
  %x, %done = "oneflow.input"(%a) {
      shape = [2 : si64, 3 : si64], op_name = "x", output_lbns = ["x/out"],
      device_tag = "cuda", device_name = ["@0:0"], hierarchy = [1],
      scope_symbol_id = 4611686018427420671 : i64, data_type = 9 : i32, is_dynamic = false,
      nd_sbp = ["B"], op_type_name = "input"} : (tensor<2x3xf16>) -> (tensor<2x3xf16>, i1)
  %w = "oneflow.variable"(%done) {data_type = 2 : i32, float_initializer = 0.0 : f32, op_name = "w",
      parallel = #sbp.parallel<[] -> [#sbp.B, #sbp.S<1>]>, shape = [3 : si64], trainable = false}
      : (i1) -> tensor<3xf32>
  %y = "oneflow.output"(%x) {op_name = "y"} : (tensor<2x3xf16>) -> tensor<2x3xf16>
  oneflow.return %y, %w : tensor<2x3xf16>, tensor<3xf32>
}

// -----

// Segment sizes in every spelling, or none where the number of operands says it all.

// CHECK-LABEL: func.func @segments
// CHECK: operandSegmentSizes = array<i32: 1, 1, 0, 1>
// CHECK: operand_segment_sizes = array<i32: 1, 1, 1, 0>
// CHECK: operand_segment_sizes = dense<[1, 1, 1, 0]> : vector<4xi32>
// CHECK: %3 = "oneflow.conv2d"(%arg0, %arg1) {data_format = "channels_first"
// CHECK: %y, %mean, %inv_variance = "oneflow.normalization"{{.*}} operand_segment_sizes = array<i32: 1, 1, 1, 1, 1, 0>, result_segment_sizes = array<i32: 1, 1, 1>, training = true}
// CHECK: %y_0 = "oneflow.normalization"
// CHECK: %4 = "oneflow.normalization_infer"
func.func @segments(%x: tensor<1x3x5x5xf32>, %w: tensor<3x3x3x3xf32>, %b: tensor<3xf32>) -> tensor<1x3x5x5xf32> {
  %0 = "oneflow.conv2d"(%x, %w, %x) {data_format = "channels_first", dilation_rate = [1 : si32, 1 : si32], filters = 3 : si32, groups = 1 : si32, kernel_size = [3 : si32, 3 : si32], operandSegmentSizes = array<i32: 1, 1, 0, 1>, padding_before = [1 : si32, 1 : si32], strides = [1 : si32, 1 : si32], tuning_cache = ""} : (tensor<1x3x5x5xf32>, tensor<3x3x3x3xf32>, tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32>
  %1 = "oneflow.conv2d"(%0, %w, %b) {data_format = "channels_first", dilation_rate = [1 : si32, 1 : si32], kernel_size = [3 : si32, 3 : si32], operand_segment_sizes = array<i32: 1, 1, 1, 0>, padding_before = [1 : si32, 1 : si32], strides = [1 : si32, 1 : si32]} : (tensor<1x3x5x5xf32>, tensor<3x3x3x3xf32>, tensor<3xf32>) -> tensor<1x3x5x5xf32>
  %2 = "oneflow.conv2d"(%1, %w, %b) {data_format = "channels_first", dilation_rate = [1 : si32, 1 : si32], kernel_size = [3 : si32, 3 : si32], operand_segment_sizes = dense<[1, 1, 1, 0]> : vector<4xi32>, padding_before = [1 : si32, 1 : si32], strides = [1 : si32, 1 : si32]} : (tensor<1x3x5x5xf32>, tensor<3x3x3x3xf32>, tensor<3xf32>) -> tensor<1x3x5x5xf32>
  %3 = "oneflow.conv2d"(%x, %w) {data_format = "channels_first", dilation_rate = [1 : si32, 1 : si32], kernel_size = [3 : si32, 3 : si32], padding_before = [1 : si32, 1 : si32], strides = [1 : si32, 1 : si32]} : (tensor<1x3x5x5xf32>, tensor<3x3x3x3xf32>) -> tensor<1x3x5x5xf32>
  %y, %m, %v = "oneflow.normalization"(%3, %b, %b, %b, %b) {axis = 1 : si32, epsilon = 1.0e-5 : f32, momentum = 0.9 : f32, operand_segment_sizes = array<i32: 1, 1, 1, 1, 1, 0>, result_segment_sizes = array<i32: 1, 1, 1>, training = true} : (tensor<1x3x5x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<1x3x5x5xf32>, tensor<3xf32>, tensor<3xf32>)
  %z = "oneflow.normalization"(%y, %b, %b, %b, %b) {axis = 1 : si32, epsilon = 1.0e-5 : f32, momentum = 0.9 : f32, operand_segment_sizes = dense<[1, 1, 1, 1, 1, 0]> : vector<6xi32>, training = false} : (tensor<1x3x5x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x5x5xf32>
  %i = "oneflow.normalization_infer"(%z, %b, %b, %b, %b, %z) {axis = 1 : si32, epsilon = 1.0e-5 : f32, training = true} : (tensor<1x3x5x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<1x3x5x5xf32>) -> tensor<1x3x5x5xf32>
  return %i : tensor<1x3x5x5xf32>
}

// -----

// Locations come and go as in any other module; OneFlow's element types; two-result ops.

// CHECK-LABEL: oneflow.job @located
// CHECK: %out, %mask = "oneflow.dropout"(%arg0) {op_name = "d", rate = 7.500000e-01 : f32, seed = 5 : si64} : (tensor<4x6x6x2xf32>) -> (tensor<4x6x6x2xf32>, tensor<4x6x6x2xi8>) loc("drop")
// CHECK: %y, %indice = "oneflow.max_pool_2d"(%out)
// CHECK: %0 = "oneflow.cat"(%y, %y) {axis = 3 : si64, max_dim_size = 4 : si64}
// CHECK: tensor<2x!oneflow.of_record_element>
oneflow.job @located(%x: tensor<4x6x6x2xf32>, %r: tensor<2x!oneflow.of_record_element>) -> (tensor<4x3x3x4xf32>, tensor<2x!oneflow.of_record_element>) {
  %o, %m = "oneflow.dropout"(%x) {op_name = "d", rate = 0.75 : f32, seed = 5 : si64} : (tensor<4x6x6x2xf32>) -> (tensor<4x6x6x2xf32>, tensor<4x6x6x2xi8>) loc("drop")
  %y, %i = "oneflow.max_pool_2d"(%o) {ceil_mode = false, data_format = "channels_last", dilation = [1 : si32, 1 : si32], kernel_size = [2 : si32, 2 : si32], padding = [0 : si32, 0 : si32], return_indices = false, stride = [2 : si32, 2 : si32]} : (tensor<4x6x6x2xf32>) -> (tensor<4x3x3x2xf32>, tensor<4x3x3x2xi64>)
  %c = "oneflow.cat"(%y, %y) {axis = 3 : si64, max_dim_size = 4 : si64} : (tensor<4x3x3x2xf32>, tensor<4x3x3x2xf32>) -> tensor<4x3x3x4xf32>
  oneflow.return %c, %r : tensor<4x3x3x4xf32>, tensor<2x!oneflow.of_record_element>
}

// -----

// A transformer's ops.

// CHECK-LABEL: oneflow.job @attention
// CHECK: %0 = "oneflow.fused_matmul_bias"(%arg0, %arg1, %arg2)
// CHECK: %4 = "oneflow.batch_matmul"(%2, %3) {alpha = 5.000000e-01 : f64, transpose_a = false, transpose_b = false}
// CHECK: %5 = "oneflow.scalar_div"(%4) {float_operand = 2.500000e+00 : f64, has_float_operand = true, has_int_operand = false, int_operand = 0 : si64}
// CHECK: %y, %mean, %inv_variance = "oneflow.layer_norm"(%8, %arg3, %arg3) {begin_norm_axis = 2 : si64, begin_params_axis = 2 : si64, center = true, epsilon = {{.*}} : f64, operand_segment_sizes = array<i32: 1, 1, 1>, scale = true}
// CHECK: oneflow.return
oneflow.job @attention(%x: tensor<1x4x6xf32>, %w: tensor<6x6xf32>, %b: tensor<6xf32>, %g: tensor<6xf32>) -> tensor<1x4x6xf32> {
  %0 = "oneflow.fused_matmul_bias"(%x, %w, %b) {alpha = 1.0 : f64, beta = 1.0 : f64} : (tensor<1x4x6xf32>, tensor<6x6xf32>, tensor<6xf32>) -> tensor<1x4x6xf32>
  %1 = "oneflow.reshape"(%0) {shape = [1 : si64, 4 : si64, 2 : si64, 3 : si64]} : (tensor<1x4x6xf32>) -> tensor<1x4x2x3xf32>
  %2 = "oneflow.transpose"(%1) {perm = [0 : si32, 2 : si32, 1 : si32, 3 : si32]} : (tensor<1x4x2x3xf32>) -> tensor<1x2x4x3xf32>
  %3 = "oneflow.transpose"(%1) {perm = [0 : si32, 2 : si32, 3 : si32, 1 : si32]} : (tensor<1x4x2x3xf32>) -> tensor<1x2x3x4xf32>
  %4 = "oneflow.batch_matmul"(%2, %3) {alpha = 0.5 : f64, transpose_a = false, transpose_b = false} : (tensor<1x2x4x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x4x4xf32>
  %5 = "oneflow.scalar_div"(%4) {float_operand = 2.5 : f64, has_float_operand = true, has_int_operand = false, int_operand = 0 : si64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %6 = "oneflow.softmax"(%5) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %7 = "oneflow.broadcast_matmul"(%6, %2) : (tensor<1x2x4x4xf32>, tensor<1x2x4x3xf32>) -> tensor<1x2x4x3xf32>
  %8 = "oneflow.reshape"(%7) {shape = [1 : si64, 4 : si64, 6 : si64]} : (tensor<1x2x4x3xf32>) -> tensor<1x4x6xf32>
  %9, %10, %11 = "oneflow.layer_norm"(%8, %g, %g) {begin_norm_axis = 2 : si64, begin_params_axis = 2 : si64, center = true, epsilon = 1.0e-5 : f64, operand_segment_sizes = array<i32: 1, 1, 1>, scale = true} : (tensor<1x4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<1x4x6xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  %12 = "oneflow.add_n2"(%9, %x) {op_type_name = "add_n"} : (tensor<1x4x6xf32>, tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  oneflow.return %12 : tensor<1x4x6xf32>
}

// -----

// Parameters with their numbers in the text.

// CHECK-LABEL: oneflow.job @constants
// CHECK: "oneflow.variable_ir"() {nd_sbp = ["B"], op_name = "a", value = dense<[1.500000e+00, -2.000000e+00]> : tensor<2xf32>} : () -> tensor<2xf32>
// CHECK: "oneflow.variable_ir"() {op_name = "b", value = dense<1.000000e+00> : tensor<2xf32>} : () -> tensor<2xf32>
oneflow.job @constants() -> tensor<2xf32> {
  %a = "oneflow.variable_ir"() {nd_sbp = ["B"], op_name = "a", value = dense<[1.5, -2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "oneflow.variable_ir"() {op_name = "b", value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %c = "oneflow.add_n2"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  oneflow.return %c : tensor<2xf32>
}
