// RUN: tpu-opt %s --split-input-file --shape-infer --convert-top-to-tpu="mode=F16 chip=bm1684x" --no-locations | filecheck %s

// The array adds over lanes.
// CHECK-LABEL: func.func @mean
// CHECK: [[W:%.*]] = "top.Weight"() : () -> tensor<1x8x1x1xf16>
// CHECK-NEXT: "tpu.Conv2D"({{.*}}, [[W]], {{.*}}kernel_shape = [1, 1]{{.*}}-> tensor<2x1x4x6x{{.*}}f16
// CHECK-NOT: tpu.Reduce
func.func @mean(%arg0: tensor<2x8x4x6xf32>) -> tensor<2x1x4x6xf32> {
  %x = "top.Input"(%arg0) : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<2x8x4x6xf32>) -> tensor<2x1x4x6xf32> loc("y")
  return %y : tensor<2x1x4x6xf32>
}

// -----

// Without the dimension of channels.
// CHECK-LABEL: func.func @sum
// CHECK: [[C:%.*]] = "tpu.Conv2D"(
// CHECK-NEXT: "tpu.Reshape"([[C]]){{.*}}-> tensor<2x4x6x{{.*}}f16
func.func @sum(%arg0: tensor<2x8x4x6xf32>) -> tensor<2x4x6xf32> {
  %x = "top.Input"(%arg0) : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [-3], keepdims = false, mode = "ReduceSum"} : (tensor<2x8x4x6xf32>) -> tensor<2x4x6xf32> loc("y")
  return %y : tensor<2x4x6xf32>
}

// -----

// For the largest, a row of a lane gets all channels.
// CHECK-LABEL: func.func @largest
// CHECK: [[T:%.*]] = "tpu.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<2x6x4x8xf16>
// CHECK-NEXT: [[M:%.*]] = "tpu.Reduce"([[T]]{{.*}}axes = [3]{{.*}}-> tensor<2x6x4x1xf16>
// CHECK-NEXT: "tpu.Permute"([[M]]{{.*}}order = [0, 3, 2, 1]{{.*}}-> tensor<2x1x4x6x{{.*}}f16
func.func @largest(%arg0: tensor<2x8x4x6xf32>) -> tensor<2x1x4x6xf32> {
  %x = "top.Input"(%arg0) : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceMax"} : (tensor<2x8x4x6xf32>) -> tensor<2x1x4x6xf32> loc("y")
  return %y : tensor<2x1x4x6xf32>
}

// -----

// Squares have no form for it, rows beside channels are another axis, and so are channels of rank 3.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-3: "tpu.Reduce"(
// CHECK-NOT: tpu.{{Conv2D|Permute}}
func.func @left(%arg0: tensor<2x8x4x6xf32>, %arg1: tensor<2x8x4xf32>) -> (tensor<2x1x4x6xf32>, tensor<2x1x1x6xf32>, tensor<2x1x4xf32>) {
  %x = "top.Input"(%arg0) : (tensor<2x8x4x6xf32>) -> tensor<2x8x4x6xf32> loc("x")
  %r = "top.Input"(%arg1) : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32> loc("r")
  %a = "top.Reduce"(%x) {axes = [1], keepdims = true, mode = "ReduceL2"} : (tensor<2x8x4x6xf32>) -> tensor<2x1x4x6xf32> loc("a")
  %b = "top.Reduce"(%x) {axes = [1, 2], keepdims = true, mode = "ReduceMax"} : (tensor<2x8x4x6xf32>) -> tensor<2x1x1x6xf32> loc("b")
  %c = "top.Reduce"(%r) {axes = [1], keepdims = true, mode = "ReduceMean"} : (tensor<2x8x4xf32>) -> tensor<2x1x4xf32> loc("c")
  return %a, %b, %c : tensor<2x1x4x6xf32>, tensor<2x1x1x6xf32>, tensor<2x1x4xf32>
}

// -----

// Classes of pixels are rows, in lanes of columns, however many there are.
func.func @softmax_of_classes(%arg_x: tensor<1x150x48x64xf32>) -> tensor<1x150x48x64xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x150x48x64xf32>) -> tensor<1x150x48x64xf32> loc("x")
  %y = "top.Softmax"(%x) {axis = 1 : si32} : (tensor<1x150x48x64xf32>) -> tensor<1x150x48x64xf32> loc("y")
  return %y : tensor<1x150x48x64xf32>
}

// CHECK-LABEL: func.func @softmax_of_classes
// CHECK: [[T:%.*]] = "tpu.Permute"{{.*}}order = [0, 3, 2, 1]{{.*}} -> tensor<1x64x48x150
// CHECK-NEXT: [[S:%.*]] = "tpu.Softmax"([[T]]{{.*}}axis = 3
// CHECK-NEXT: "tpu.Permute"([[S]]{{.*}}order = [0, 3, 2, 1]{{.*}} -> tensor<1x150x48x64

// -----

// Rows of as many channels as columns, of which one less than lanes, would leave one idle.
func.func @softmax_of_many(%arg_x: tensor<1x63x8x63xf32>) -> tensor<1x63x8x63xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x63x8x63xf32>) -> tensor<1x63x8x63xf32> loc("x")
  %y = "top.Softmax"(%x) {axis = 1 : si32} : (tensor<1x63x8x63xf32>) -> tensor<1x63x8x63xf32> loc("y")
  return %y : tensor<1x63x8x63xf32>
}

// CHECK-LABEL: func.func @softmax_of_many
// CHECK-NOT: tpu.Permute
// CHECK: "tpu.Softmax"{{.*}}axis = 1

// -----

// Logarithms of the shares of classes are rows, too, in f32.
func.func @log_softmax_of_classes(%arg_x: tensor<1x150x48x64xf32>) -> tensor<1x150x48x64xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x150x48x64xf32>) -> tensor<1x150x48x64xf32> loc("x")
  %y = "top.Softmax"(%x) {axis = 1 : si32, log = true} : (tensor<1x150x48x64xf32>) -> tensor<1x150x48x64xf32> loc("y")
  return %y : tensor<1x150x48x64xf32>
}

// CHECK-LABEL: func.func @log_softmax_of_classes
// CHECK: [[T:%.*]] = "tpu.Permute"{{.*}}order = [0, 3, 2, 1]{{.*}} -> tensor<1x64x48x150
// CHECK: [[M:%.*]] = "tpu.Reduce"{{.*}}axes = [3]{{.*}}ReduceMax
// CHECK: [[D:%.*]] = "tpu.Sub"({{.*}}[[M]]
// CHECK: [[L:%.*]] = "tpu.Active"{{.*}}tensor<1x64x48x1x
// CHECK: [[R:%.*]] = "tpu.Sub"([[D]], [[L]])
// CHECK: "tpu.Permute"({{.*}}order = [0, 3, 2, 1]{{.*}} -> tensor<1x150x48x64

// -----

// One over rows of channels keeps its axis.
func.func @log_softmax_of_many(%arg_x: tensor<1x63x8x63xf32>) -> tensor<1x63x8x63xf32> {
  %x = "top.Input"(%arg_x) : (tensor<1x63x8x63xf32>) -> tensor<1x63x8x63xf32> loc("x")
  %y = "top.Softmax"(%x) {axis = 1 : si32, log = true} : (tensor<1x63x8x63xf32>) -> tensor<1x63x8x63xf32> loc("y")
  return %y : tensor<1x63x8x63xf32>
}

// CHECK-LABEL: func.func @log_softmax_of_many
// CHECK-NOT: tpu.Permute
// CHECK: "tpu.Reduce"{{.*}}axes = [1]
