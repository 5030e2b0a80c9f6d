// RUN: tpu-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// What does not hold together is one message with the op, its name and the sizes.

// CHECK: 'oneflow.bias_add' "b": axis 2 is outside a = 2x3; it must be 0 or more
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  %0 = "oneflow.bias_add"(%a, %b) {axis = 2 : si32, op_name = "b"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// CHECK: b = 2 must be one-dimensional with the 3 elements of dimension 1 of a = 2x3
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  %0 = "oneflow.bias_add"(%a, %b) {axis = 1 : si32} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// CHECK: attribute axis: expected an integer of type si32, got 1 : i32
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  %0 = "oneflow.bias_add"(%a, %b) {axis = 1 : i32} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// CHECK: 'oneflow.dropout' "d": {{.*}}rate 1.5 is no probability: it must be from 0 to 1
func.func @f(%a: tensor<2x3xf32>) {
  %0, %1 = "oneflow.dropout"(%a) {op_name = "d", rate = 1.5 : f32} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi8>)
  return
}

// -----

// CHECK: result 1 is declared as 2x2, but the operands make it 2x3
func.func @f(%a: tensor<2x3xf32>) {
  %0, %1 = "oneflow.dropout"(%a) {rate = 0.5 : f32} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x2xi8>)
  return
}

// -----

// CHECK: mask 2x2 must be 2x3
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %m: tensor<2x2xi8>) {
  %0 = "oneflow.fused_bias_add_mask_scale"(%a, %b, %m) {axis = 1 : si32, scale = 2.0 : f32} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x2xi8>) -> tensor<2x3xf32>
  return
}

// -----

// CHECK: 'oneflow.conv2d' "c": 3 channels do not fit weight 8x4x3x3 in 1 group(s) and channels_first
func.func @f(%a: tensor<1x3x8x8xf32>, %w: tensor<8x4x3x3xf32>) {
  %0 = "oneflow.conv2d"(%a, %w) {data_format = "channels_first", dilation_rate = [1 : si32, 1 : si32], kernel_size = [3 : si32, 3 : si32], op_name = "c", operand_segment_sizes = array<i32: 1, 1, 0, 0>, padding_before = [1 : si32, 1 : si32], strides = [1 : si32, 1 : si32]} : (tensor<1x3x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  return
}

// -----

// CHECK: weight 8x3x3x4 does not hold a kernel 2x2 in channels_last
func.func @f(%a: tensor<1x8x8x3xf32>, %w: tensor<8x3x3x4xf32>) {
  %0 = "oneflow.conv2d"(%a, %w) {data_format = "channels_last", dilation_rate = [1 : si32, 1 : si32], kernel_size = [2 : si32, 2 : si32], operand_segment_sizes = array<i32: 1, 1, 0, 0>, padding_before = [1 : si32, 1 : si32], strides = [1 : si32, 1 : si32]} : (tensor<1x8x8x3xf32>, tensor<8x3x3x4xf32>) -> tensor<1x8x8x8xf32>
  return
}

// -----

// CHECK: attribute data_format: expected one of "channels_first", "channels_last", got "NCHW"
func.func @f(%a: tensor<1x3x8x8xf32>) {
  %0 = "oneflow.adaptive_avg_pool2d"(%a) {data_format = "NCHW", output_size = [1 : si64, 1 : si64]} : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32>
  return
}

// -----

// Three operands: is the third the bias, or what is added?

// CHECK: 'oneflow.conv2d': {{.*}}operand_segment_sizes
func.func @f(%a: tensor<1x3x8x8xf32>, %w: tensor<8x3x1x1xf32>, %b: tensor<8xf32>) {
  %0 = "oneflow.conv2d"(%a, %w, %b) {data_format = "channels_first", dilation_rate = [1 : si32, 1 : si32], kernel_size = [1 : si32, 1 : si32], padding_before = [0 : si32, 0 : si32], strides = [1 : si32, 1 : si32]} : (tensor<1x3x8x8xf32>, tensor<8x3x1x1xf32>, tensor<8xf32>) -> tensor<1x8x8x8xf32>
  return
}

// -----

// CHECK: operand count (3) does not match with the total size (2) specified in attribute 'operand_segment_sizes'
func.func @f(%a: tensor<1x3x8x8xf32>, %w: tensor<8x3x1x1xf32>, %b: tensor<8xf32>) {
  %0 = "oneflow.conv2d"(%a, %w, %b) {data_format = "channels_first", dilation_rate = [1 : si32, 1 : si32], kernel_size = [1 : si32, 1 : si32], operand_segment_sizes = dense<[1, 1, 0, 0]> : vector<4xi32>, padding_before = [0 : si32, 0 : si32], strides = [1 : si32, 1 : si32]} : (tensor<1x3x8x8xf32>, tensor<8x3x1x1xf32>, tensor<8xf32>) -> tensor<1x8x8x8xf32>
  return
}

// -----

// CHECK: operand_segment_sizes must be array<i32: ..> or dense<[..]> : vector<..xi32>, not [1 : i64, 1 : i64, 0 : i64, 0 : i64]
func.func @f(%a: tensor<1x3x8x8xf32>, %w: tensor<8x3x1x1xf32>) {
  %0 = "oneflow.conv2d"(%a, %w) {data_format = "channels_first", dilation_rate = [1 : si32, 1 : si32], kernel_size = [1 : si32, 1 : si32], operand_segment_sizes = [1, 1, 0, 0], padding_before = [0 : si32, 0 : si32], strides = [1 : si32, 1 : si32]} : (tensor<1x3x8x8xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x8x8xf32>
  return
}

// -----

// CHECK: perm [0, 1, 1] does not permute 2x3x4
func.func @f(%a: tensor<2x3x4xf32>) {
  %0 = "oneflow.transpose"(%a) {perm = [0 : si32, 1 : si32, 1 : si32]} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

// CHECK: attribute shape is 2x3, the result 3x2
func.func @f() {
  %0 = "oneflow.variable"() {op_name = "w", shape = [2 : si64, 3 : si64]} : () -> tensor<3x2xf32>
  return
}

// -----

// CHECK: attribute data_type: expected a data type, an i32 from 0 to 12, got 13 : i32
func.func @f() {
  %0 = "oneflow.variable"() {data_type = 13 : i32} : () -> tensor<3x2xf32>
  return
}

// -----

// CHECK: one of has_int_operand and has_float_operand must be true
func.func @f(%a: tensor<2xf32>) {
  %0 = "oneflow.scalar_mul"(%a) {float_operand = 2.0 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// CHECK: without moving_mean and moving_variance it must be in training
func.func @f(%a: tensor<2x3xf32>) {
  %0 = "oneflow.normalization"(%a) {axis = 1 : si32, operand_segment_sizes = array<i32: 1, 0, 0, 0, 0, 0>, result_segment_sizes = array<i32: 1, 0, 0>, training = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// CHECK: job @j returns (tensor<3xf32>), here it is (tensor<2xf32>)
oneflow.job @j(%a: tensor<2xf32>) -> tensor<3xf32> {
  oneflow.return %a : tensor<2xf32>
}

// -----

// CHECK: job @j must end with oneflow.return
oneflow.job @j(%a: tensor<2xf32>) {
  %0 = "oneflow.relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
}

// -----

// CHECK: expected #sbp.S<axis>, #sbp.B or #sbp.P, got 1 : i64
"oneflow.variable"() {parallel = #sbp.parallel<[] -> [1]>} : () -> tensor<3xf32>

// -----

// CHECK: attribute value: expected dense<..> : tensor<..xf32>, got dense<1> : tensor<2xi32>
func.func @f() {
  %0 = "oneflow.variable_ir"() {value = dense<1> : tensor<2xi32>} : () -> tensor<2xf32>
  return
}
