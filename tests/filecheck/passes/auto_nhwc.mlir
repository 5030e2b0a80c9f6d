// RUN: tpu-opt %s --split-input-file --auto-nhwc --no-locations | filecheck %s

// x -> conv -> relu -> conv -> relu -> out with two transpositions, those of the weights aside: their
// numbers are not known here, so they stay behind the variables.

// CHECK-LABEL: oneflow.job @article
// CHECK: %[[X:.*]] = "oneflow.input"
// CHECK: %[[T:.*]] = "oneflow.transpose"(%[[X]]) {device_tag = "cuda", op_name = "conv1_transpose_input_0", perm = [0 : si32, 2 : si32, 3 : si32, 1 : si32]}
// CHECK-NEXT: %[[W1:.*]] = "oneflow.transpose"(%{{.*}}) {device_tag = "cuda", op_name = "conv1_transpose_input_1", perm = [0 : si32, 2 : si32, 3 : si32, 1 : si32]} : (tensor<4x4x3x3xf32>) -> tensor<4x3x3x4xf32>
// CHECK-NEXT: %[[C1:.*]] = "oneflow.conv2d"(%[[T]], %[[W1]]) {data_format = "channels_last"{{.*}} -> tensor<1x6x6x4xf32>
// CHECK-NEXT: %[[R1:.*]] = "oneflow.relu"(%[[C1]])
// CHECK-NEXT: %[[W2:.*]] = "oneflow.transpose"{{.*}} (tensor<4x4x3x3xf32>) -> tensor<4x3x3x4xf32>
// CHECK-NEXT: %[[C2:.*]] = "oneflow.conv2d"(%[[R1]], %[[W2]]) {data_format = "channels_last"
// CHECK-NEXT: %[[R2:.*]] = "oneflow.relu"(%[[C2]])
// CHECK-NEXT: %[[Y:.*]] = "oneflow.transpose"(%[[R2]]) {{.*}}perm = [0 : si32, 3 : si32, 1 : si32, 2 : si32]
// CHECK-NEXT: "oneflow.output"(%[[Y]])

oneflow.job @article(%a: tensor<1x4x6x6xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %x = "oneflow.input"(%a) {device_tag = "cuda", op_name = "x"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %v = "oneflow.variable"() {device_tag = "cuda", op_name = "w1"} : () -> tensor<4x4x3x3xf32>
  %u = "oneflow.variable"() {device_tag = "cuda", op_name = "w2"} : () -> tensor<4x4x3x3xf32>
  %0 = "oneflow.conv2d"(%x, %v) {data_format = "channels_first", device_tag = "cuda", dilation_rate = [1 : si32, 1 : si32], filters = 4 : si32, groups = 1 : si32, kernel_size = [3 : si32, 3 : si32], op_name = "conv1", operand_segment_sizes = array<i32: 1, 1, 0, 0>, padding_before = [1 : si32, 1 : si32], strides = [1 : si32, 1 : si32]} : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = "oneflow.relu"(%0) {device_tag = "cuda", op_name = "relu1"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %2 = "oneflow.conv2d"(%1, %u) {data_format = "channels_first", device_tag = "cuda", dilation_rate = [1 : si32, 1 : si32], filters = 4 : si32, groups = 1 : si32, kernel_size = [3 : si32, 3 : si32], op_name = "conv2", operand_segment_sizes = array<i32: 1, 1, 0, 0>, padding_before = [1 : si32, 1 : si32], strides = [1 : si32, 1 : si32]} : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %3 = "oneflow.relu"(%2) {device_tag = "cuda", op_name = "relu2"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %y = "oneflow.output"(%3) {device_tag = "cuda", op_name = "out"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  oneflow.return %y : tensor<1x4x6x6xf32>
}

// -----

// A sum follows its one channel-last operand, and the other one gets a transposition. One for each
// use would be two in front of the cat; they meet those behind the sum. Axes follow.

// CHECK-LABEL: oneflow.job @follows
// CHECK: op_name = "norm_transpose_input_0"
// CHECK-NEXT: %[[N:.*]] = "oneflow.normalization_infer"{{.*}}axis = 3 : si32
// CHECK-NEXT: %[[B:.*]] = "oneflow.transpose"(%arg1) {op_name = "sum_transpose_input_1"
// CHECK-NEXT: %[[S:.*]] = "oneflow.add_n2"(%[[N]], %[[B]])
// CHECK-NEXT: %[[C:.*]] = "oneflow.cat"(%[[S]], %[[S]]) {axis = 3 : si64
// CHECK-NEXT: "oneflow.transpose"(%[[C]])
// CHECK-NEXT: oneflow.return

oneflow.job @follows(%a: tensor<1x4x6x6xf32>, %b: tensor<1x4x6x6xf32>, %g: tensor<4xf32>) -> tensor<1x8x6x6xf32> {
  %0 = "oneflow.normalization_infer"(%a, %g, %g, %g, %g) {axis = 1 : si32, epsilon = 1.0e-5 : f32, op_name = "norm", operand_segment_sizes = array<i32: 1, 1, 1, 1, 1, 0>} : (tensor<1x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %1 = "oneflow.add_n2"(%0, %b) {op_name = "sum"} : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %2 = "oneflow.cat"(%1, %1) {axis = 1 : si64, max_dim_size = 8 : si64, op_name = "cat"} : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32>
  oneflow.return %2 : tensor<1x8x6x6xf32>
}

// -----

// Left alone: what runs on a CPU, is channel-last, has no image, or no layout and no such operand.

// CHECK-LABEL: oneflow.job @stays
// CHECK-NOT: oneflow.transpose
// CHECK: axis = 1 : si32, device_tag = "cpu", op_name = "on a CPU"
// CHECK: axis = 3 : si32, op_name = "channel-last already"
// CHECK: axis = 0 : si32, op_name = "no image"
// CHECK: op_name = "without a layout"
// CHECK-NOT: oneflow.transpose

oneflow.job @stays(%a: tensor<1x4x6x6xf32>, %b: tensor<1x6x6x4xf32>, %c: tensor<4x6xf32>, %v: tensor<4xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x6x6x4xf32>, tensor<4x6xf32>, tensor<1x4x6x6xf32>) {
  %0 = "oneflow.bias_add"(%a, %v) {axis = 1 : si32, device_tag = "cpu", op_name = "on a CPU"} : (tensor<1x4x6x6xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %1 = "oneflow.bias_add"(%b, %v) {axis = 3 : si32, op_name = "channel-last already"} : (tensor<1x6x6x4xf32>, tensor<4xf32>) -> tensor<1x6x6x4xf32>
  %2 = "oneflow.bias_add"(%c, %v) {axis = 0 : si32, op_name = "no image"} : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  %3 = "oneflow.relu"(%a) {op_name = "without a layout"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  oneflow.return %0, %1, %2, %3 : tensor<1x4x6x6xf32>, tensor<1x6x6x4xf32>, tensor<4x6xf32>, tensor<1x4x6x6xf32>
}
