// RUN: tpu-opt %s --split-input-file --cast-late --no-locations | filecheck %s

// Rows of what is given are moved as they are, and cast behind that.
// CHECK-LABEL: module @planes
// CHECK: %[[X:.*]] = "top.Input"
// CHECK-NEXT: %[[P:.*]] = "tpu.Permute"(%[[X]], %{{.*}}) {order = [0, 2, 1, 3, 4]} : (tensor<1x8x3x64x64xf32>, none) -> tensor<1x3x8x64x64xf32>
// CHECK-NEXT: %[[R:.*]] = "tpu.Reshape"(%[[P]]) {{.*}} -> tensor<24x64x64xf32>
// CHECK-NEXT: "tpu.Cast"(%[[R]]) {{.*}} -> tensor<24x64x64xf16>
module @planes attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x8x3x64x64xf32>) -> tensor<24x64x64xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x8x3x64x64xf32>) -> tensor<1x8x3x64x64xf32> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<1x8x3x64x64xf32>) -> tensor<1x8x3x64x64xf16> loc("c")
    %2 = "tpu.Permute"(%1, %n) {order = [0, 2, 1, 3, 4]} : (tensor<1x8x3x64x64xf16>, none) -> tensor<1x3x8x64x64xf16> loc("p")
    %3 = "tpu.Reshape"(%2) : (tensor<1x3x8x64x64xf16>) -> tensor<24x64x64xf16> loc("r")
    return %3 : tensor<24x64x64xf16>
  }
}

// -----

// Elements of pixels are put apart within lanes: 64 rows of 8192 pixels are what they have room for.
// CHECK-LABEL: module @pixels
// CHECK: %[[L:.*]] = "tpu.Reshape"(%{{.*}}) {{.*}} -> tensor<1x64x32768xf32>
// CHECK-NEXT: %[[C:.*]] = "tpu.Cast"(%[[L]]) {{.*}} -> tensor<1x64x32768xf16>
// CHECK-NEXT: %[[A:.*]] = "tpu.Rearrange"(%[[C]]) {{.*}}in_lanes = true{{.*}} -> tensor<1x64x32768xf16>
// CHECK-NEXT: %[[P:.*]] = "tpu.Reshape"(%[[A]]) {{.*}} -> tensor<1x64x4x8192xf16>
// CHECK-NEXT: "tpu.Permute"(%[[P]], %{{.*}}) {order = [0, 2, 1, 3]} {{.*}} -> tensor<1x4x64x8192xf16>
module @pixels attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x8192x4xf32>) -> tensor<1x4x64x8192xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x8192x4xf32>) -> tensor<1x64x8192x4xf32> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<1x64x8192x4xf32>) -> tensor<1x64x8192x4xf16> loc("c")
    %2 = "tpu.Permute"(%1, %n) {order = [0, 3, 1, 2]} : (tensor<1x64x8192x4xf16>, none) -> tensor<1x4x64x8192xf16> loc("p")
    return %2 : tensor<1x4x64x8192xf16>
  }
}

// -----

// One more row needs lanes that are not there.
// CHECK-LABEL: module @large
// CHECK: "tpu.Cast"(%{{.*}}) {{.*}} -> tensor<1x65x8192x4xf16>
// CHECK-NEXT: "tpu.Permute"(%{{.*}}) {order = [0, 3, 1, 2]}
module @large attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x65x8192x4xf32>) -> tensor<1x4x65x8192xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x65x8192x4xf32>) -> tensor<1x65x8192x4xf32> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<1x65x8192x4xf32>) -> tensor<1x65x8192x4xf16> loc("c")
    %2 = "tpu.Permute"(%1, %n) {order = [0, 3, 1, 2]} : (tensor<1x65x8192x4xf16>, none) -> tensor<1x4x65x8192xf16> loc("p")
    return %2 : tensor<1x4x65x8192xf16>
  }
}

// -----

// What is read twice is cast once, and what the network computes is cast where it is made.
// CHECK-LABEL: module @others
// CHECK: "tpu.Cast"(%{{.*}}) {{.*}} -> tensor<4x8x64xf16>
// CHECK-NEXT: "tpu.Permute"
// CHECK-NEXT: "tpu.Active"
// CHECK-NEXT: "tpu.Cast"(%{{.*}}) {{.*}} -> tensor<4x8x64xbf16>
// CHECK-NEXT: "tpu.Permute"
module @others attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<4x8x64xf32>, %arg1: tensor<4x8x64xf32>) -> (tensor<4x8x64xf16>, tensor<8x4x64xf16>, tensor<8x4x64xbf16>) {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<4x8x64xf32>) -> tensor<4x8x64xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<4x8x64xf32>) -> tensor<4x8x64xf32> loc("y")
    %1 = "tpu.Cast"(%0) : (tensor<4x8x64xf32>) -> tensor<4x8x64xf16> loc("c")
    %2 = "tpu.Permute"(%1, %n) {order = [1, 0, 2]} : (tensor<4x8x64xf16>, none) -> tensor<8x4x64xf16> loc("p")
    %3 = "tpu.Active"(%y) {mode = #tpu<active_mode RELU>} : (tensor<4x8x64xf32>) -> tensor<4x8x64xf32> loc("a")
    %4 = "tpu.Cast"(%3) : (tensor<4x8x64xf32>) -> tensor<4x8x64xbf16> loc("d")
    %5 = "tpu.Permute"(%4, %n) {order = [1, 0, 2]} : (tensor<4x8x64xbf16>, none) -> tensor<8x4x64xbf16> loc("q")
    return %1, %2, %5 : tensor<4x8x64xf16>, tensor<8x4x64xf16>, tensor<8x4x64xbf16>
  }
}

// -----

// Frames of a video are loaded each by itself, and are images then.
// CHECK-LABEL: module @frames
// CHECK: [[A:%.*]] = "tpu.Slice"(%{{.*}}offset = [0, 0, 0, 0]{{.*}} -> tensor<1x1x3x64xf32>
// CHECK-NEXT: [[B:%.*]] = "tpu.Reshape"([[A]]){{.*}} -> tensor<1x3x64xf32>
// CHECK-NEXT: "tpu.Cast"([[B]]){{.*}} -> tensor<1x3x64xf16>
// CHECK: [[C:%.*]] = "tpu.Slice"(%{{.*}}offset = [0, 1, 0, 0]{{.*}} -> tensor<1x1x3x64xf32>
// CHECK-NEXT: "tpu.Cast"([[C]]){{.*}} -> tensor<1x1x3x64xf16>
module @frames attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x2x3x64xf32>) -> (tensor<1x3x64xf16>, tensor<1x1x3x64xf16>) {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x2x3x64xf32>) -> tensor<1x2x3x64xf32> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<1x2x3x64xf32>) -> tensor<1x2x3x64xf16> loc("c")
    %2 = "tpu.Slice"(%1, %n, %n, %n, %n) {offset = [0, 0, 0, 0], ends = [1, 1, 3, 64], steps = [1, 1, 1, 1]} : (tensor<1x2x3x64xf16>, none, none, none, none) -> tensor<1x1x3x64xf16> loc("s")
    %3 = "tpu.Reshape"(%2) : (tensor<1x1x3x64xf16>) -> tensor<1x3x64xf16> loc("r")
    %4 = "tpu.Slice"(%1, %n, %n, %n, %n) {offset = [0, 1, 0, 0], ends = [1, 2, 3, 64], steps = [1, 1, 1, 1]} : (tensor<1x2x3x64xf16>, none, none, none, none) -> tensor<1x1x3x64xf16> loc("t")
    return %3, %4 : tensor<1x3x64xf16>, tensor<1x1x3x64xf16>
  }
}

// -----

// Refused: one begins within rows.
// CHECK-LABEL: module @columns
// CHECK: "tpu.Cast"(%{{.*}}) {{.*}} -> tensor<2x3x64xf16>
// CHECK-NEXT: "tpu.Slice"
module @columns attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<2x3x64xf32>) -> tensor<2x3x32xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<2x3x64xf32>) -> tensor<2x3x64xf32> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<2x3x64xf32>) -> tensor<2x3x64xf16> loc("c")
    %2 = "tpu.Slice"(%1, %n, %n, %n, %n) {offset = [0, 0, 32], ends = [2, 3, 64], steps = [1, 1, 1]} : (tensor<2x3x64xf16>, none, none, none, none) -> tensor<2x3x32xf16> loc("s")
    return %2 : tensor<2x3x32xf16>
  }
}
