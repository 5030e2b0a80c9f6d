// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize --no-locations | filecheck %s

// DepthwiseDeconvByPhases: every second element sees the same taps.
// CHECK-LABEL: func.func @line_of_phases
// CHECK: "top.Conv"{{.*}}group = 68{{.*}}kernel_shape = [1, 1]{{.*}} -> tensor<1x68x9x1xf32>
// CHECK: "top.Conv"{{.*}}group = 68{{.*}}kernel_shape = [1, 1]{{.*}} -> tensor<1x68x9x1xf32>
// CHECK-NEXT: "top.Concat"{{.*}}axis = 3 : si32{{.*}} -> tensor<1x68x9x2xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<1x68x18x1xf32>
// CHECK-NEXT: "top.Slice"{{.*}} -> tensor<1x68x17x1xf32>
func.func @line_of_phases(%arg0: tensor<1x68x9x1xf32>) -> tensor<1x68x17x1xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x68x9x1xf32>) -> tensor<1x68x9x1xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<68x1x1x1xf32> loc("random_68x1x1x1")
  %y = "top.Deconv"(%x, %w, %n) {kernel_shape = [1, 1], strides = [2, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 68 : i64} : (tensor<1x68x9x1xf32>, tensor<68x1x1x1xf32>, none) -> tensor<1x68x17x1xf32> loc("y")
  return %y : tensor<1x68x17x1xf32>
}

// -----

// Images stay.
// CHECK-LABEL: func.func @deconv_of_images
// CHECK: "top.Deconv"
func.func @deconv_of_images(%arg0: tensor<1x68x9x2xf32>) -> tensor<1x68x17x2xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x68x9x2xf32>) -> tensor<1x68x9x2xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<68x1x1x1xf32> loc("random_68x1x1x1")
  %y = "top.Deconv"(%x, %w, %n) {kernel_shape = [1, 1], strides = [2, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 68 : i64} : (tensor<1x68x9x2xf32>, tensor<68x1x1x1xf32>, none) -> tensor<1x68x17x2xf32> loc("y")
  return %y : tensor<1x68x17x2xf32>
}
