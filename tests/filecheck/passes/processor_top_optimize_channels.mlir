// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-top-optimize="disable=SplitConvByChannels" --no-locations | filecheck %s --check-prefix=OFF

// SplitConvByChannels: 170 channels in 3 groups of lanes, of which Slices take 63 and, from lane 63 on,
// 107, are two convolutions; so is what is computed between.
// CHECK-LABEL: func.func @parts
// CHECK: [[A:%.+]] = "top.Conv"{{.*}}tensor<63x1x1x1xf32>{{.*}} -> tensor<1x63x8x8xf32>
// CHECK: [[B:%.+]] = "top.Conv"([[A]]{{.*}}group = 63{{.*}}tensor<63x1x1x1xf32>{{.*}} -> tensor<1x63x8x8xf32>
// CHECK-NEXT: [[C:%.+]] = "top.SiLU"([[B]]) : (tensor<1x63x8x8xf32>) -> tensor<1x63x8x8xf32>
// CHECK: [[D:%.+]] = "top.Conv"{{.*}}tensor<107x1x1x1xf32>{{.*}} -> tensor<1x107x8x8xf32>
// CHECK: [[E:%.+]] = "top.Conv"([[D]]{{.*}}group = 107{{.*}}tensor<107x1x1x1xf32>{{.*}} -> tensor<1x107x8x8xf32>
// CHECK-NEXT: [[F:%.+]] = "top.SiLU"([[E]])
// CHECK-NOT: top.Slice
// CHECK: return [[C]], [[F]]
// OFF-LABEL: func.func @parts
// OFF-COUNT-2: top.Slice
func.func @parts(%arg0: tensor<1x1x8x8xf32>) -> (tensor<1x63x8x8xf32>, tensor<1x107x8x8xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<170x1x1x1xf32> loc("random_170x1x1x1")
  %d = "top.Weight"() : () -> tensor<170x1x1x1xf32> loc("random_170x1x1x1")
  %c = "top.Conv"(%x, %w, %n) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x1x8x8xf32>, tensor<170x1x1x1xf32>, none) -> tensor<1x170x8x8xf32> loc("c")
  %e = "top.Conv"(%c, %d, %n) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], group = 170 : i64} : (tensor<1x170x8x8xf32>, tensor<170x1x1x1xf32>, none) -> tensor<1x170x8x8xf32> loc("e")
  %s = "top.SiLU"(%e) : (tensor<1x170x8x8xf32>) -> tensor<1x170x8x8xf32> loc("s")
  %y = "top.Slice"(%s, %n, %n, %n) {axes = [], offset = [0, 0, 0, 0], ends = [1, 63, 8, 8], steps = [1, 1, 1, 1]} : (tensor<1x170x8x8xf32>, none, none, none) -> tensor<1x63x8x8xf32> loc("y")
  %z = "top.Slice"(%s, %n, %n, %n) {axes = [], offset = [0, 63, 0, 0], ends = [1, 170, 8, 8], steps = [1, 1, 1, 1]} : (tensor<1x170x8x8xf32>, none, none, none) -> tensor<1x107x8x8xf32> loc("z")
  return %y, %z : tensor<1x63x8x8xf32>, tensor<1x107x8x8xf32>
}

// -----

// Parts that begin in the first lane are where their readers want them.
// CHECK-LABEL: func.func @whole_groups
// CHECK: top.Conv
// CHECK-COUNT-2: top.Slice
func.func @whole_groups(%arg0: tensor<1x1x8x8xf32>) -> (tensor<1x64x8x8xf32>, tensor<1x106x8x8xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<170x1x1x1xf32> loc("random_170x1x1x1")
  %c = "top.Conv"(%x, %w, %n) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x1x8x8xf32>, tensor<170x1x1x1xf32>, none) -> tensor<1x170x8x8xf32> loc("c")
  %y = "top.Slice"(%c, %n, %n, %n) {axes = [], offset = [0, 0, 0, 0], ends = [1, 64, 8, 8], steps = [1, 1, 1, 1]} : (tensor<1x170x8x8xf32>, none, none, none) -> tensor<1x64x8x8xf32> loc("y")
  %z = "top.Slice"(%c, %n, %n, %n) {axes = [], offset = [0, 64, 0, 0], ends = [1, 170, 8, 8], steps = [1, 1, 1, 1]} : (tensor<1x170x8x8xf32>, none, none, none) -> tensor<1x106x8x8xf32> loc("z")
  return %y, %z : tensor<1x64x8x8xf32>, tensor<1x106x8x8xf32>
}

// -----

// 64 channels are in one group of lanes, their halves would be in two: twice the work.
// CHECK-LABEL: func.func @more_groups
// CHECK: top.Conv
// CHECK-COUNT-2: top.Slice
func.func @more_groups(%arg0: tensor<1x1x8x8xf32>) -> (tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<64x1x1x1xf32> loc("random_64x1x1x1")
  %c = "top.Conv"(%x, %w, %n) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x1x8x8xf32>, tensor<64x1x1x1xf32>, none) -> tensor<1x64x8x8xf32> loc("c")
  %y = "top.Slice"(%c, %n, %n, %n) {axes = [], offset = [0, 0, 0, 0], ends = [1, 32, 8, 8], steps = [1, 1, 1, 1]} : (tensor<1x64x8x8xf32>, none, none, none) -> tensor<1x32x8x8xf32> loc("y")
  %z = "top.Slice"(%c, %n, %n, %n) {axes = [], offset = [0, 32, 0, 0], ends = [1, 64, 8, 8], steps = [1, 1, 1, 1]} : (tensor<1x64x8x8xf32>, none, none, none) -> tensor<1x32x8x8xf32> loc("z")
  return %y, %z : tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>
}

// -----

// What else reads the channels needs them together.
// CHECK-LABEL: func.func @read_whole
// CHECK: top.Conv
// CHECK-COUNT-2: top.Slice
func.func @read_whole(%arg0: tensor<1x1x8x8xf32>) -> (tensor<1x63x8x8xf32>, tensor<1x107x8x8xf32>, tensor<1x170x8x8xf32>) {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<170x1x1x1xf32> loc("random_170x1x1x1")
  %c = "top.Conv"(%x, %w, %n) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0]} : (tensor<1x1x8x8xf32>, tensor<170x1x1x1xf32>, none) -> tensor<1x170x8x8xf32> loc("c")
  %y = "top.Slice"(%c, %n, %n, %n) {axes = [], offset = [0, 0, 0, 0], ends = [1, 63, 8, 8], steps = [1, 1, 1, 1]} : (tensor<1x170x8x8xf32>, none, none, none) -> tensor<1x63x8x8xf32> loc("y")
  %z = "top.Slice"(%c, %n, %n, %n) {axes = [], offset = [0, 63, 0, 0], ends = [1, 170, 8, 8], steps = [1, 1, 1, 1]} : (tensor<1x170x8x8xf32>, none, none, none) -> tensor<1x107x8x8xf32> loc("z")
  return %y, %z, %c : tensor<1x63x8x8xf32>, tensor<1x107x8x8xf32>, tensor<1x170x8x8xf32>
}
