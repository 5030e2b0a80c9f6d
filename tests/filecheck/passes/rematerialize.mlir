// RUN: tpu-opt %s --split-input-file --rematerialize --no-locations | filecheck %s

// 16.6 MB wait for their mean: what makes them of 4.1 MB is done again for the product.
// CHECK-LABEL: module @wide
// CHECK: [[X:%.*]] = "top.Input"
// CHECK: "tpu.Conv2D"([[X]],
// CHECK-NEXT: "tpu.Conv2D"
// CHECK-COUNT-3: "tpu.Pool2D"
// CHECK-NEXT: [[S:%.*]] = "tpu.Active"
// CHECK-NEXT: [[A:%.*]] = "tpu.Conv2D"([[X]], {{.*}}layer = "a"
// CHECK-NEXT: [[B:%.*]] = "tpu.Conv2D"([[A]], {{.*}}layer = "b"
// CHECK-NEXT: [[Y:%.*]] = "tpu.Mul"([[B]], [[S]])
// CHECK-NEXT: "tpu.Conv2D"([[Y]],
module @wide attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x180x180xf16>) -> tensor<1x64x180x180xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x64x180x180xf16>) -> tensor<1x64x180x180xf16> loc("x")
    %n = "top.None"() : () -> none
    %w = "top.Weight"() : () -> tensor<1x64x1x64xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<1x256x1x64xf16> loc("v")
    %u = "top.Weight"() : () -> tensor<1x64x1x256xf16> loc("u")
    %1 = "tpu.Conv2D"(%0, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x180x180xf16>, tensor<1x64x1x64xf16>, none) -> tensor<1x64x180x180xf16> loc("a")
    %2 = "tpu.Conv2D"(%1, %v, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x180x180xf16>, tensor<1x256x1x64xf16>, none) -> tensor<1x256x180x180xf16> loc("b")
    %3 = "tpu.Pool2D"(%2) {pool_mode = #tpu<pool_mode Avg>, kernel_shape = [15, 1], strides = [15, 1], pads = [0, 0, 0, 0], count_include_pad = true, keepdims = true} : (tensor<1x256x180x180xf16>) -> tensor<1x256x12x180xf16> loc("p")
    %4 = "tpu.Pool2D"(%3) {pool_mode = #tpu<pool_mode Avg>, kernel_shape = [12, 1], strides = [12, 1], pads = [0, 0, 0, 0], count_include_pad = true, keepdims = true} : (tensor<1x256x12x180xf16>) -> tensor<1x256x1x180xf16> loc("q")
    %8 = "tpu.Pool2D"(%4) {pool_mode = #tpu<pool_mode Avg>, kernel_shape = [1, 180], strides = [1, 1], pads = [0, 0, 0, 0], count_include_pad = true, keepdims = true} : (tensor<1x256x1x180xf16>) -> tensor<1x256x1x1xf16> loc("r")
    %5 = "tpu.Active"(%8) {mode = #tpu<active_mode SIGMOID>} : (tensor<1x256x1x1xf16>) -> tensor<1x256x1x1xf16> loc("s")
    %6 = "tpu.Mul"(%2, %5) : (tensor<1x256x180x180xf16>, tensor<1x256x1x1xf16>) -> tensor<1x256x180x180xf16> loc("m")
    %7 = "tpu.Conv2D"(%6, %u, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x256x180x180xf16>, tensor<1x64x1x256xf16>, none) -> tensor<1x64x180x180xf16> loc("y")
    return %7 : tensor<1x64x180x180xf16>
  }
}

// -----

// As much is read as is made, which is left in local memory as well.
// CHECK-LABEL: module @narrow
// CHECK-COUNT-3: "tpu.Conv2D"
// CHECK-NOT: "tpu.Conv2D"
module @narrow attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x150x150xf16>) -> tensor<1x64x150x150xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x64x150x150xf16>) -> tensor<1x64x150x150xf16> loc("x")
    %n = "top.None"() : () -> none
    %w = "top.Weight"() : () -> tensor<1x64x1x64xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<1x64x1x64xf16> loc("v")
    %u = "top.Weight"() : () -> tensor<1x64x1x64xf16> loc("u")
    %1 = "tpu.Conv2D"(%0, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x150x150xf16>, tensor<1x64x1x64xf16>, none) -> tensor<1x64x150x150xf16> loc("a")
    %2 = "tpu.Conv2D"(%1, %v, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x150x150xf16>, tensor<1x64x1x64xf16>, none) -> tensor<1x64x150x150xf16> loc("b")
    %3 = "tpu.Pool2D"(%2) {pool_mode = #tpu<pool_mode Avg>, kernel_shape = [15, 1], strides = [15, 1], pads = [0, 0, 0, 0], count_include_pad = true, keepdims = true} : (tensor<1x64x150x150xf16>) -> tensor<1x64x10x150xf16> loc("p")
    %4 = "tpu.Pool2D"(%3) {pool_mode = #tpu<pool_mode Avg>, kernel_shape = [10, 1], strides = [10, 1], pads = [0, 0, 0, 0], count_include_pad = true, keepdims = true} : (tensor<1x64x10x150xf16>) -> tensor<1x64x1x150xf16> loc("q")
    %8 = "tpu.Pool2D"(%4) {pool_mode = #tpu<pool_mode Avg>, kernel_shape = [1, 150], strides = [1, 1], pads = [0, 0, 0, 0], count_include_pad = true, keepdims = true} : (tensor<1x64x1x150xf16>) -> tensor<1x64x1x1xf16> loc("r")
    %5 = "tpu.Active"(%8) {mode = #tpu<active_mode SIGMOID>} : (tensor<1x64x1x1xf16>) -> tensor<1x64x1x1xf16> loc("s")
    %6 = "tpu.Mul"(%2, %5) : (tensor<1x64x150x150xf16>, tensor<1x64x1x1xf16>) -> tensor<1x64x150x150xf16> loc("m")
    %7 = "tpu.Conv2D"(%6, %u, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x150x150xf16>, tensor<1x64x1x64xf16>, none) -> tensor<1x64x150x150xf16> loc("y")
    return %7 : tensor<1x64x150x150xf16>
  }
}

// -----

// 1.8 MB of 16 stay in local memory.
// CHECK-LABEL: module @small
// CHECK-COUNT-3: "tpu.Conv2D"
// CHECK-NOT: "tpu.Conv2D"
module @small attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x60x60xf16>) -> tensor<1x64x60x60xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x64x60x60xf16>) -> tensor<1x64x60x60xf16> loc("x")
    %n = "top.None"() : () -> none
    %w = "top.Weight"() : () -> tensor<1x64x1x64xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<1x256x1x64xf16> loc("v")
    %u = "top.Weight"() : () -> tensor<1x64x1x256xf16> loc("u")
    %1 = "tpu.Conv2D"(%0, %w, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x60x60xf16>, tensor<1x64x1x64xf16>, none) -> tensor<1x64x60x60xf16> loc("a")
    %2 = "tpu.Conv2D"(%1, %v, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x60x60xf16>, tensor<1x256x1x64xf16>, none) -> tensor<1x256x60x60xf16> loc("b")
    %3 = "tpu.Pool2D"(%2) {pool_mode = #tpu<pool_mode Avg>, kernel_shape = [6, 1], strides = [6, 1], pads = [0, 0, 0, 0], count_include_pad = true, keepdims = true} : (tensor<1x256x60x60xf16>) -> tensor<1x256x10x60xf16> loc("p")
    %4 = "tpu.Pool2D"(%3) {pool_mode = #tpu<pool_mode Avg>, kernel_shape = [10, 1], strides = [10, 1], pads = [0, 0, 0, 0], count_include_pad = true, keepdims = true} : (tensor<1x256x10x60xf16>) -> tensor<1x256x1x60xf16> loc("q")
    %8 = "tpu.Pool2D"(%4) {pool_mode = #tpu<pool_mode Avg>, kernel_shape = [1, 60], strides = [1, 1], pads = [0, 0, 0, 0], count_include_pad = true, keepdims = true} : (tensor<1x256x1x60xf16>) -> tensor<1x256x1x1xf16> loc("r")
    %5 = "tpu.Active"(%8) {mode = #tpu<active_mode SIGMOID>} : (tensor<1x256x1x1xf16>) -> tensor<1x256x1x1xf16> loc("s")
    %6 = "tpu.Mul"(%2, %5) : (tensor<1x256x60x60xf16>, tensor<1x256x1x1xf16>) -> tensor<1x256x60x60xf16> loc("m")
    %7 = "tpu.Conv2D"(%6, %u, %n) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x256x60x60xf16>, tensor<1x64x1x256xf16>, none) -> tensor<1x64x60x60xf16> loc("y")
    return %7 : tensor<1x64x60x60xf16>
  }
}
