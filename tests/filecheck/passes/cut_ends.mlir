// RUN: tpu-opt %s --split-input-file --cut-ends --no-locations | filecheck %s

// Pixels of a band come to lie over the lanes, row by row; the last bands are short.
// CHECK-LABEL: module @pixels
// CHECK: [[X:%.*]] = "tpu.Conv2D"
// CHECK: [[R:%.*]] = "tpu.Slice"([[X]], {{.*}}ends = [1, 64, 65, 128]{{.*}} -> tensor<1x64x65x128xf16>
// CHECK-NEXT: [[C:%.*]] = "tpu.Conv2D"([[R]], {{.*}}pads = [1, 1, 0, 1]{{.*}} -> tensor<1x9x64x128xf16>
// CHECK-NEXT: [[T:%.*]] = "tpu.Rearrange"([[C]]) {{.*}}in_lanes = true{{.*}} -> tensor<128x9x1x64xf16>
// CHECK-NEXT: [[D:%.*]] = "tpu.Rearrange"([[T]]) {{.*}}in_lanes = true{{.*}} -> tensor<1x64x1x1152xf16>
// CHECK-NEXT: [[F:%.*]] = "tpu.Cast"([[D]]) {{.*}} -> tensor<1x64x1x1152xf32>
// CHECK: "tpu.Slice"([[X]], {{.*}}offset = [0, 0, 63, 0]
// CHECK: "tpu.Conv2D"{{.*}}pads = [0, 1, 0, 1]
// CHECK: "tpu.Conv2D"{{.*}}pads = [0, 1, 1, 1]{{.*}} -> tensor<1x9x16x128xf16>
// CHECK-NOT: "tpu.Conv2D"
// CHECK: [[J:%.*]] = "tpu.Join"([[F]], {{.*}}axis = 1 : si32{{.*}} -> tensor<1x128x1x1152xf32>
// CHECK-NEXT: [[Y:%.*]] = "tpu.Reshape"([[J]]) {{.*}} -> tensor<1x1x384x384xf32>
// CHECK-NEXT: return [[Y]]
module @pixels attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x4x128x128xf16>) -> tensor<1x1x384x384xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4x128x128xf16>) -> tensor<1x4x128x128xf16> loc("x")
    %n = "top.None"() : () -> none
    %1 = "top.Weight"() : () -> tensor<1x9x1x576xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<1x64x1x288xf16> loc("v")
    %2 = "tpu.Conv2D"(%0, %v, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x4x128x128xf16>, tensor<1x64x1x288xf16>, none) -> tensor<1x64x128x128xf16> loc("t")
    %3 = "tpu.Conv2D"(%2, %1, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x128x128xf16>, tensor<1x9x1x576xf16>, none) -> tensor<1x9x128x128xf16> loc("c")
    %4 = "tpu.Depth2Space"(%3) {block_h = 3 : i64, block_w = 3 : i64, is_CRD = true, is_inversed = false} : (tensor<1x9x128x128xf16>) -> tensor<1x1x384x384xf16> loc("d")
    %5 = "tpu.Cast"(%4) : (tensor<1x1x384x384xf16>) -> tensor<1x1x384x384xf32> loc("y")
    return %5 : tensor<1x1x384x384xf32>
  }
}

// -----

// Rows of three colours do not lie one behind the other in the result.
// CHECK-LABEL: module @colours
// CHECK-NOT: "tpu.Slice"
// CHECK: "tpu.Depth2Space"
// CHECK-NOT: "tpu.Join"
module @colours attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x4x128x128xf16>) -> tensor<1x3x256x256xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4x128x128xf16>) -> tensor<1x4x128x128xf16> loc("x")
    %n = "top.None"() : () -> none
    %1 = "top.Weight"() : () -> tensor<1x12x1x576xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<1x64x1x288xf16> loc("v")
    %2 = "tpu.Conv2D"(%0, %v, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x4x128x128xf16>, tensor<1x64x1x288xf16>, none) -> tensor<1x64x128x128xf16> loc("t")
    %3 = "tpu.Conv2D"(%2, %1, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x128x128xf16>, tensor<1x12x1x576xf16>, none) -> tensor<1x12x128x128xf16> loc("c")
    %4 = "tpu.Depth2Space"(%3) {block_h = 2 : i64, block_w = 2 : i64, is_CRD = true, is_inversed = false} : (tensor<1x12x128x128xf16>) -> tensor<1x3x256x256xf16> loc("d")
    %5 = "tpu.Cast"(%4) : (tensor<1x3x256x256xf16>) -> tensor<1x3x256x256xf32> loc("y")
    return %5 : tensor<1x3x256x256xf32>
  }
}

// -----

// A result that something else reads, too, is there as a whole.
// CHECK-LABEL: module @read
// CHECK-NOT: "tpu.Join"
module @read attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x4x128x128xf16>) -> (tensor<1x1x384x384xf32>, tensor<1x9x128x128xf16>) {
    %0 = "top.Input"(%arg0) : (tensor<1x4x128x128xf16>) -> tensor<1x4x128x128xf16> loc("x")
    %n = "top.None"() : () -> none
    %1 = "top.Weight"() : () -> tensor<1x9x1x576xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<1x64x1x288xf16> loc("v")
    %2 = "tpu.Conv2D"(%0, %v, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x4x128x128xf16>, tensor<1x64x1x288xf16>, none) -> tensor<1x64x128x128xf16> loc("t")
    %3 = "tpu.Conv2D"(%2, %1, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x128x128xf16>, tensor<1x9x1x576xf16>, none) -> tensor<1x9x128x128xf16> loc("c")
    %4 = "tpu.Depth2Space"(%3) {block_h = 3 : i64, block_w = 3 : i64, is_CRD = true, is_inversed = false} : (tensor<1x9x128x128xf16>) -> tensor<1x1x384x384xf16> loc("d")
    %5 = "tpu.Cast"(%4) : (tensor<1x1x384x384xf16>) -> tensor<1x1x384x384xf32> loc("y")
    return %5, %3 : tensor<1x1x384x384xf32>, tensor<1x9x128x128xf16>
  }
}

// -----

// Eight rows are not cut.
// CHECK-LABEL: module @few
// CHECK-NOT: "tpu.Join"
module @few attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x4x8x128xf16>) -> tensor<1x1x24x384xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x4x8x128xf16>) -> tensor<1x4x8x128xf16> loc("x")
    %n = "top.None"() : () -> none
    %1 = "top.Weight"() : () -> tensor<1x9x1x576xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<1x64x1x288xf16> loc("v")
    %2 = "tpu.Conv2D"(%0, %v, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x4x8x128xf16>, tensor<1x64x1x288xf16>, none) -> tensor<1x64x8x128xf16> loc("t")
    %3 = "tpu.Conv2D"(%2, %1, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = false} : (tensor<1x64x8x128xf16>, tensor<1x9x1x576xf16>, none) -> tensor<1x9x8x128xf16> loc("c")
    %4 = "tpu.Depth2Space"(%3) {block_h = 3 : i64, block_w = 3 : i64, is_CRD = true, is_inversed = false} : (tensor<1x9x8x128xf16>) -> tensor<1x1x24x384xf16> loc("d")
    %5 = "tpu.Cast"(%4) : (tensor<1x1x24x384xf16>) -> tensor<1x1x24x384xf32> loc("y")
    return %5 : tensor<1x1x24x384xf32>
  }
}
