// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize="disable=SplitDepthwise" --no-locations | filecheck %s --check-prefix=OFF

// SplitDepthwise: two filters for each of 34 channels are two depthwise convolutions.
// CHECK-LABEL: func.func @two_filters
// CHECK: [[A:%.+]] = "top.Conv"{{.*}}group = 34{{.*}}tensor<34x1x1x1xf32>{{.*}} -> tensor<1x34x8x8xf32>
// CHECK: [[B:%.+]] = "top.Conv"{{.*}}group = 34{{.*}}tensor<34x1x1x1xf32>{{.*}} -> tensor<1x34x8x8xf32>
// CHECK-NEXT: [[C:%.+]] = "top.Concat"([[A]], [[B]]){{.*}}axis = 1 : si32{{.*}} -> tensor<1x68x8x8xf32>
// CHECK-NEXT: "top.ShuffleChannel"([[C]]) {group = 2 : i64}
// OFF-LABEL: func.func @two_filters
// OFF-NOT: top.Concat
func.func @two_filters(%arg0: tensor<1x34x8x8xf32>) -> tensor<1x68x8x8xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x34x8x8xf32>) -> tensor<1x34x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<68x1x1x1xf32> loc("random_68x1x1x1")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 34 : i64} : (tensor<1x34x8x8xf32>, tensor<68x1x1x1xf32>, none) -> tensor<1x68x8x8xf32> loc("y")
  return %y : tensor<1x68x8x8xf32>
}

// -----

// The matrix unit takes 32 channels in at once: they stay.
// CHECK-LABEL: func.func @few_channels
// CHECK: "top.Conv"
// CHECK-NOT: top.Concat
func.func @few_channels(%arg0: tensor<1x32x8x8xf32>) -> tensor<1x64x8x8xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<64x1x1x1xf32> loc("random_64x1x1x1")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 32 : i64} : (tensor<1x32x8x8xf32>, tensor<64x1x1x1xf32>, none) -> tensor<1x64x8x8xf32> loc("y")
  return %y : tensor<1x64x8x8xf32>
}

// -----

// However many filters a channel has, each is a convolution.
// CHECK-LABEL: func.func @five_filters
// CHECK-COUNT-5: "top.Conv"{{.*}}group = 34{{.*}}tensor<34x1x1x1xf32>
// CHECK: "top.Concat"
// CHECK-NEXT: "top.ShuffleChannel"({{.*}}) {group = 5 : i64}
func.func @five_filters(%arg0: tensor<1x34x8x8xf32>) -> tensor<1x170x8x8xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x34x8x8xf32>) -> tensor<1x34x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<170x1x1x1xf32> loc("random_170x1x1x1")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 34 : i64} : (tensor<1x34x8x8xf32>, tensor<170x1x1x1xf32>, none) -> tensor<1x170x8x8xf32> loc("y")
  return %y : tensor<1x170x8x8xf32>
}

// -----

// DepthwiseVolume: lines along the depth are those of an image; several channels a group stay.
// CHECK-LABEL: func.func @along_the_depth
// CHECK: "top.Reshape"{{.*}} -> tensor<1x34x6x16xf32>
// CHECK-NEXT: "top.Weight"
// CHECK-NEXT: "top.Conv"{{.*}}group = 34{{.*}}kernel_shape = [2, 1]{{.*}}pads = [0, 0, 1, 0]{{.*}} -> tensor<1x34x6x16xf32>
// CHECK-NEXT: "top.Reshape"{{.*}} -> tensor<1x34x6x4x4xf32>
func.func @along_the_depth(%arg0: tensor<1x34x6x4x4xf32>) -> tensor<1x34x6x4x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x34x6x4x4xf32>) -> tensor<1x34x6x4x4xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<34x1x2x1x1xf32> loc("random_34x1x2x1x1")
  %y = "top.Conv"(%x, %w, %n) {kernel_shape = [2, 1, 1], strides = [1, 1, 1], pads = [0, 0, 0, 1, 0, 0], dilations = [1, 1, 1], group = 34 : i64} : (tensor<1x34x6x4x4xf32>, tensor<34x1x2x1x1xf32>, none) -> tensor<1x34x6x4x4xf32> loc("y")
  return %y : tensor<1x34x6x4x4xf32>
}
