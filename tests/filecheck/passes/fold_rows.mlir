// RUN: tpu-opt %s --split-input-file --fold-rows="chip=bm1684x" --no-locations | filecheck %s

// Sixteen channels fill a quarter of the lanes: four blocks of rows lie over all of them. A filter of
// each channel sees the last row of the block above its own and the first one of that below.
// CHECK-LABEL: module @few
// CHECK: [[X:%.+]] = "top.Input"
// CHECK: [[F:%.+]] = "top.Reshape"([[X]]) {{.*}} -> tensor<1x64x64x256xf32>
// CHECK-NEXT: [[A:%.+]] = "top.SiLU"([[F]]) : (tensor<1x64x64x256xf32>)
// CHECK: [[L:%.+]] = "top.Slice"([[A]], {{.*}}ends = [1, 64, 64, 256]{{.*}}offset = [0, 0, 63, 0]
// CHECK: [[M:%.+]] = "top.Conv"([[L]], {{.*}} -> tensor<1x64x1x256xf32>
// CHECK: [[S:%.+]] = "top.Slice"([[A]], {{.*}}ends = [1, 64, 1, 256]{{.*}}offset = [0, 0, 0, 0]
// CHECK: [[T:%.+]] = "top.Conv"([[S]], {{.*}} -> tensor<1x64x1x256xf32>
// CHECK-NEXT: [[H:%.+]] = "top.Concat"([[M]], [[A]], [[T]]) {axis = 2 : si32{{.*}} -> tensor<1x64x66x256xf32>
// CHECK: [[C:%.+]] = "top.Conv"([[H]], {{.*}}group = 64 : i64{{.*}}pads = [0, 1, 0, 1]{{.*}} -> tensor<1x64x64x256xf32>
// CHECK-NEXT: [[Z:%.+]] = "top.SiLU"([[C]])
// CHECK-NEXT: [[Y:%.+]] = "top.Reshape"([[Z]]) {{.*}} -> tensor<1x16x256x256xf32>
// CHECK-NEXT: return [[Y]]
module @few attributes {module.state = "TOP_F32", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x16x256x256xf32>) -> tensor<1x16x256x256xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x16x256x256xf32>) -> tensor<1x16x256x256xf32> loc("x")
    %1 = "top.SiLU"(%0) : (tensor<1x16x256x256xf32>) -> tensor<1x16x256x256xf32> loc("a")
    %w = "top.Weight"() : () -> tensor<16x1x3x3xf32> loc("w")
    %2 = "top.Conv"(%1, %w, %n) {group = 16 : i64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x16x256x256xf32>, tensor<16x1x3x3xf32>, none) -> tensor<1x16x256x256xf32> loc("b")
    %3 = "top.SiLU"(%2) : (tensor<1x16x256x256xf32>) -> tensor<1x16x256x256xf32> loc("y")
    return %3 : tensor<1x16x256x256xf32>
  }
}

// -----

// 64 channels fill all lanes.
// CHECK-LABEL: module @many
// CHECK: "top.SiLU"
// CHECK-NOT: "top.Reshape"
module @many attributes {module.state = "TOP_F32", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x128x128xf32>) -> tensor<1x64x128x128xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x128x128xf32>) -> tensor<1x64x128x128xf32> loc("x")
    %1 = "top.SiLU"(%0) : (tensor<1x64x128x128xf32>) -> tensor<1x64x128x128xf32> loc("a")
    %w = "top.Weight"() : () -> tensor<64x1x3x3xf32> loc("w")
    %2 = "top.Conv"(%1, %w, %n) {group = 64 : i64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x64x128x128xf32>, tensor<64x1x3x3xf32>, none) -> tensor<1x64x128x128xf32> loc("b")
    %3 = "top.SiLU"(%2) : (tensor<1x64x128x128xf32>) -> tensor<1x64x128x128xf32> loc("y")
    return %3 : tensor<1x64x128x128xf32>
  }
}

// -----

// A prime number of rows has no blocks.
// CHECK-LABEL: module @prime
// CHECK: "top.SiLU"
// CHECK-NOT: "top.Reshape"
module @prime attributes {module.state = "TOP_F32", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x16x257x256xf32>) -> tensor<1x16x257x256xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x16x257x256xf32>) -> tensor<1x16x257x256xf32> loc("x")
    %1 = "top.SiLU"(%0) : (tensor<1x16x257x256xf32>) -> tensor<1x16x257x256xf32> loc("a")
    %w = "top.Weight"() : () -> tensor<16x1x3x3xf32> loc("w")
    %2 = "top.Conv"(%1, %w, %n) {group = 16 : i64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x16x257x256xf32>, tensor<16x1x3x3xf32>, none) -> tensor<1x16x257x256xf32> loc("b")
    %3 = "top.SiLU"(%2) : (tensor<1x16x257x256xf32>) -> tensor<1x16x257x256xf32> loc("y")
    return %3 : tensor<1x16x257x256xf32>
  }
}

// -----

// Functions of bytes are tables, for which nothing is done.
// CHECK-LABEL: module @bytes
// CHECK: "top.SiLU"
// CHECK-NOT: "top.Reshape"
module @bytes attributes {module.state = "TOP_F32", module.chip = "bm1684x", module.mode = "INT8"} {
  func.func @main(%arg0: tensor<1x16x256x256xf32>) -> tensor<1x16x256x256xf32> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x16x256x256xf32>) -> tensor<1x16x256x256xf32> loc("x")
    %1 = "top.SiLU"(%0) : (tensor<1x16x256x256xf32>) -> tensor<1x16x256x256xf32> loc("a")
    %w = "top.Weight"() : () -> tensor<16x1x3x3xf32> loc("w")
    %2 = "top.Conv"(%1, %w, %n) {group = 16 : i64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x16x256x256xf32>, tensor<16x1x3x3xf32>, none) -> tensor<1x16x256x256xf32> loc("b")
    %3 = "top.SiLU"(%2) : (tensor<1x16x256x256xf32>) -> tensor<1x16x256x256xf32> loc("y")
    return %3 : tensor<1x16x256x256xf32>
  }
}
