// RUN: tpu-opt %s --split-input-file --processor-top-optimize --no-locations | filecheck %s

// FarPool: windows side by side are pooled in parts.
// CHECK-LABEL: func.func @side_by_side
// CHECK: "top.AvgPool"{{.*}}kernel_shape = [8]{{.*}}strides = [8]{{.*}} -> tensor<1x96x392xf32>
// CHECK-NEXT: "top.AvgPool"{{.*}}kernel_shape = [8]{{.*}}strides = [8]{{.*}} -> tensor<1x96x49xf32>
func.func @side_by_side(%arg0: tensor<1x96x3136xf32>) -> tensor<1x96x49xf32> {
  %x = "top.Input"(%arg0) : (tensor<1x96x3136xf32>) -> tensor<1x96x3136xf32> loc("x")
  %y = "top.AvgPool"(%x) {kernel_shape = [64], strides = [64], pads = [0, 0]} : (tensor<1x96x3136xf32>) -> tensor<1x96x49xf32> loc("y")
  return %y : tensor<1x96x49xf32>
}

// -----

// FarPool: windows apart from each other are some of those that lie nearer.
// CHECK-LABEL: func.func @apart
// CHECK: "top.MaxPool"{{.*}}strides = [9]{{.*}} -> tensor<1x96x23xf32>
// CHECK-NEXT: "top.Slice"{{.*}}steps = [1, 1, 2]{{.*}} -> tensor<1x96x12xf32>
func.func @apart(%arg0: tensor<1x96x200xf32>) -> tensor<1x96x12xf32> {
  %x = "top.Input"(%arg0) : (tensor<1x96x200xf32>) -> tensor<1x96x200xf32> loc("x")
  %y = "top.MaxPool"(%x) {kernel_shape = [3], strides = [18], pads = [1, 0]} : (tensor<1x96x200xf32>) -> tensor<1x96x12xf32> loc("y")
  return %y : tensor<1x96x12xf32>
}

// -----

// The longest stride that a command can say stays.
// CHECK-LABEL: func.func @near
// CHECK: "top.MaxPool"{{.*}}strides = [15]
// CHECK-NOT: top.Slice
func.func @near(%arg0: tensor<1x96x200xf32>) -> tensor<1x96x14xf32> {
  %x = "top.Input"(%arg0) : (tensor<1x96x200xf32>) -> tensor<1x96x200xf32> loc("x")
  %y = "top.MaxPool"(%x) {kernel_shape = [3], strides = [15], pads = [1, 0]} : (tensor<1x96x200xf32>) -> tensor<1x96x14xf32> loc("y")
  return %y : tensor<1x96x14xf32>
}

// -----

// FarPool: padding that is whole parts stays behind them, and never counts.
// CHECK-LABEL: func.func @last_in_part
// CHECK: "top.AvgPool"{{.*}}kernel_shape = [10]{{.*}}pads = [0, 0]{{.*}}strides = [10]{{.*}} -> tensor<1x96x15xf32>
// CHECK-NEXT: "top.AvgPool"{{.*}}kernel_shape = [10]{{.*}}pads = [0, 5]{{.*}}strides = [10]{{.*}} -> tensor<1x96x2xf32>
func.func @last_in_part(%arg0: tensor<1x96x150xf32>) -> tensor<1x96x2xf32> {
  %x = "top.Input"(%arg0) : (tensor<1x96x150xf32>) -> tensor<1x96x150xf32> loc("x")
  %y = "top.AvgPool"(%x) {kernel_shape = [100], strides = [100], pads = [0, 50]} : (tensor<1x96x150xf32>) -> tensor<1x96x2xf32> loc("y")
  return %y : tensor<1x96x2xf32>
}
