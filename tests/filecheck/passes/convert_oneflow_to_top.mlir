// RUN: tpu-opt %s --split-input-file --convert-oneflow-to-top | filecheck %s

// The job becomes @main; op_name becomes the name of a tensor, variables become weights.

// CHECK: module @net attributes {{{.*}}module.state = "TOP_F32"
// CHECK: func.func @main(%arg0: tensor<1x3x6x6xf32>{{.*}}) -> tensor<1x5xf32>
// CHECK: %[[N:.*]] = "top.None"
// CHECK: %[[X:.*]] = "top.Input"(%arg0)
// CHECK: %[[W:.*]] = "top.Weight"() : () -> tensor<4x3x3x3xf32>
// CHECK: %[[V:.*]] = "top.Weight"() : () -> tensor<36x5xf32>
// CHECK: %[[C:.*]] = "top.Conv"(%[[X]], %[[W]], %[[N]]) {{.*}}pads = [1, 1, 1, 1]
// CHECK: %[[R:.*]] = "top.Relu"(%[[C]])
// CHECK: %[[P:.*]] = "top.MaxPool"(%[[R]]) {{.*}}kernel_shape = [2, 2]
// CHECK: %[[F:.*]] = "top.Reshape"(%[[P]])
// CHECK: %[[M:.*]] = "top.MatMul"(%[[F]], %[[V]], %[[N]])
// CHECK: return %[[M]]

oneflow.job @net(%a: tensor<1x3x6x6xf32>) -> tensor<1x5xf32> {
  %x = "oneflow.input"(%a) {op_name = "x"} : (tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32>
  %w = "oneflow.variable"() {op_name = "w"} : () -> tensor<4x3x3x3xf32>
  %v = "oneflow.variable"() {op_name = "fc"} : () -> tensor<36x5xf32>
  %c = "oneflow.conv2d"(%x, %w) {data_format = "channels_first", dilation_rate = [1 : si32, 1 : si32], filters = 4 : si32, groups = 1 : si32, kernel_size = [3 : si32, 3 : si32], op_name = "conv", operand_segment_sizes = array<i32: 1, 1, 0, 0>, padding_before = [1 : si32, 1 : si32], strides = [1 : si32, 1 : si32]} : (tensor<1x3x6x6xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %r = "oneflow.relu"(%c) {op_name = "relu"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %p, %i = "oneflow.max_pool_2d"(%r) {ceil_mode = false, data_format = "channels_first", dilation = [1 : si32, 1 : si32], kernel_size = [2 : si32, 2 : si32], op_name = "pool", padding = [0 : si32, 0 : si32], return_indices = false, stride = [2 : si32, 2 : si32]} : (tensor<1x4x6x6xf32>) -> (tensor<1x4x3x3xf32>, tensor<1x4x3x3xi64>)
  %f = "oneflow.reshape"(%p) {op_name = "flat", shape = [1 : si64, 36 : si64]} : (tensor<1x4x3x3xf32>) -> tensor<1x36xf32>
  %m = "oneflow.matmul"(%f, %v) {alpha = 1.0 : f64, op_name = "fc_out", transpose_a = false, transpose_b = false} : (tensor<1x36xf32>, tensor<36x5xf32>) -> tensor<1x5xf32>
  %y = "oneflow.output"(%m) {op_name = "y"} : (tensor<1x5xf32>) -> tensor<1x5xf32>
  oneflow.return %y : tensor<1x5xf32>
}

// -----

// A mask is an input whose seed and rate the module says.

// CHECK: module @masked attributes {{{.*}}module.random_masks = [{name = "mask_input", rate = 2.500000e-01 : f32, seed = 9 : si64}]
// CHECK: %[[A:.*]] = "top.Add"
// CHECK: %[[I:.*]] = "top.Input"(%arg2)
// CHECK: %[[P:.*]] = "top.Mul"(%[[A]], %[[I]])
// CHECK: "top.MulConst"(%[[P]]) {const_val = 1.500000e+00 : f64

oneflow.job @masked(%a: tensor<2x5xf32>, %b: tensor<5xf32>) -> tensor<2x5xf32> {
  %x = "oneflow.input"(%a) {op_name = "x"} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %m = "oneflow.random_mask_like"(%x) {op_name = "mask", rate = 0.25 : f32, seed = 9 : si64} : (tensor<2x5xf32>) -> tensor<2x5xi8>
  %v = "oneflow.variable"() {op_name = "v"} : () -> tensor<5xf32>
  %y = "oneflow.fused_bias_add_mask_scale"(%x, %v, %m) {axis = 1 : si32, op_name = "y", scale = 1.5 : f32} : (tensor<2x5xf32>, tensor<5xf32>, tensor<2x5xi8>) -> tensor<2x5xf32>
  oneflow.return %y : tensor<2x5xf32>
}

// -----

// Dropping nothing is nothing: no mask, no op.

// CHECK: module @nothing_dropped
// CHECK-NOT: random_masks
// CHECK: %[[X:.*]] = "top.Input"(%arg0)
// CHECK-NEXT: return %[[X]]

oneflow.job @nothing_dropped(%a: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %x = "oneflow.input"(%a) {op_name = "x"} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %y, %m = "oneflow.dropout"(%x) {op_name = "drop", rate = 0.0 : f32, seed = 9 : si64} : (tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi8>)
  oneflow.return %y : tensor<2x5xf32>
}

// -----

// The fused op has no mask to apply either, but still what it adds and its scale.

// CHECK: module @nothing_masked
// CHECK-NOT: random_masks
// CHECK: %[[A:.*]] = "top.Add"
// CHECK-NEXT: "top.MulConst"(%[[A]]) {const_val = 1.500000e+00 : f64
// CHECK-NOT: "top.Mul"(

oneflow.job @nothing_masked(%a: tensor<2x5xf32>, %b: tensor<5xf32>) -> tensor<2x5xf32> {
  %x = "oneflow.input"(%a) {op_name = "x"} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %m = "oneflow.random_mask_like"(%x) {op_name = "mask", rate = 0.0 : f32, seed = 9 : si64} : (tensor<2x5xf32>) -> tensor<2x5xi8>
  %v = "oneflow.variable"() {op_name = "v"} : () -> tensor<5xf32>
  %y = "oneflow.fused_bias_add_mask_scale"(%x, %v, %m) {axis = 1 : si32, op_name = "y", scale = 1.5 : f32} : (tensor<2x5xf32>, tensor<5xf32>, tensor<2x5xi8>) -> tensor<2x5xf32>
  oneflow.return %y : tensor<2x5xf32>
}
