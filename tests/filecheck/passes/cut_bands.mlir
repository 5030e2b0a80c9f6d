// RUN: tpu-opt %s --split-input-file --weight-reorder --cut-bands --no-locations | filecheck %s

// Rows of an image come one band after the other; only the outer bands see padding above and below.
// CHECK-LABEL: module @image
// CHECK: [[X:%.*]] = "top.Input"
// CHECK: "tpu.Rearrange"([[X]])
// CHECK: "tpu.Rearrange"([[X]])
// CHECK-NOT: 1x3x224x224xf16
// CHECK: "tpu.Cast"
// CHECK: "tpu.Conv2D"{{.*}}pads = [3, 3, 0, 3]{{.*}}x112xf16>
// CHECK: "tpu.Relu"
// CHECK: "tpu.Cast"
// CHECK: "tpu.Conv2D"{{.*}}pads = [0, 3, 0, 3]
// CHECK: "tpu.Conv2D"{{.*}}pads = [0, 3, {{[1-3]}}, 3]
// CHECK-NOT: "tpu.Conv2D"
// CHECK: "tpu.Concat"{{.*}}axis = 2 : si32{{.*}} -> tensor<1x64x112x112xf16>
module @image attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x3x224x224xf32>) -> tensor<1x64x112x112xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x3x224x224xf32>) -> tensor<1x3x224x224xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<64x3x7x7xf16> loc("w")
    %2 = "top.Weight"() : () -> tensor<64xf32> loc("b")
    %3 = "tpu.Cast"(%0) : (tensor<1x3x224x224xf32>) -> tensor<1x3x224x224xf16> loc("cast")
    %4 = "tpu.Conv2D"(%3, %1, %2) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [2, 2], use_3ic_optimize = 0 : i64, with_bias = true} : (tensor<1x3x224x224xf16>, tensor<64x3x7x7xf16>, tensor<64xf32>) -> tensor<1x64x112x112xf16> loc("conv")
    %5 = "tpu.Relu"(%4) : (tensor<1x64x112x112xf16>) -> tensor<1x64x112x112xf16> loc("relu")
    return %5 : tensor<1x64x112x112xf16>
  }
}

// -----

// One row is not cut.
// CHECK-LABEL: module @row
// CHECK-NOT: "tpu.Rearrange"
// CHECK-NOT: "tpu.Concat"
module @row attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x3x1x50000xf32>) -> tensor<1x64x1x50000xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x3x1x50000xf32>) -> tensor<1x3x1x50000xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<64x3x1x1xf16> loc("w")
    %2 = "top.Weight"() : () -> tensor<64xf32> loc("b")
    %3 = "tpu.Cast"(%0) : (tensor<1x3x1x50000xf32>) -> tensor<1x3x1x50000xf16> loc("cast")
    %4 = "tpu.Conv2D"(%3, %1, %2) {kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = true} : (tensor<1x3x1x50000xf16>, tensor<64x3x1x1xf16>, tensor<64xf32>) -> tensor<1x64x1x50000xf16> loc("conv")
    return %4 : tensor<1x64x1x50000xf16>
  }
}

// -----

// Weights take longer to load than all ops together: nothing is gained while they come.
// CHECK-LABEL: module @weights
// CHECK-NOT: "tpu.Rearrange"
// CHECK-NOT: "tpu.Concat"
module @weights attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x3x32x32xf32>) -> tensor<1x8192x1x1xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x3x32x32xf32>) -> tensor<1x3x32x32xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<64x3x3x3xf16> loc("w")
    %2 = "top.Weight"() : () -> tensor<64xf32> loc("b")
    %3 = "tpu.Cast"(%0) : (tensor<1x3x32x32xf32>) -> tensor<1x3x32x32xf16> loc("cast")
    %4 = "tpu.Conv2D"(%3, %1, %2) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], use_3ic_optimize = 0 : i64, with_bias = true} : (tensor<1x3x32x32xf16>, tensor<64x3x3x3xf16>, tensor<64xf32>) -> tensor<1x64x16x16xf16> loc("conv")
    %5 = "top.Weight"() : () -> tensor<8192x64x16x16xf16> loc("v")
    %6 = "top.Weight"() : () -> tensor<8192xf32> loc("c")
    %7 = "tpu.Conv2D"(%4, %5, %6) {kernel_shape = [16, 16], pads = [0, 0, 0, 0], strides = [1, 1], use_3ic_optimize = 0 : i64, with_bias = true} : (tensor<1x64x16x16xf16>, tensor<8192x64x16x16xf16>, tensor<8192xf32>) -> tensor<1x8192x1x1xf16> loc("all")
    return %7 : tensor<1x8192x1x1xf16>
  }
}

// -----

// Two ops read the image: it is wanted whole.
// CHECK-LABEL: module @shared
// CHECK-NOT: "tpu.Rearrange"
module @shared attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x3x224x224xf32>) -> (tensor<1x64x112x112xf16>, tensor<1x3x224x224xf32>) {
    %0 = "top.Input"(%arg0) : (tensor<1x3x224x224xf32>) -> tensor<1x3x224x224xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<64x3x7x7xf16> loc("w")
    %2 = "top.Weight"() : () -> tensor<64xf32> loc("b")
    %3 = "tpu.Cast"(%0) : (tensor<1x3x224x224xf32>) -> tensor<1x3x224x224xf16> loc("cast")
    %4 = "tpu.Conv2D"(%3, %1, %2) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [2, 2], use_3ic_optimize = 0 : i64, with_bias = true} : (tensor<1x3x224x224xf16>, tensor<64x3x7x7xf16>, tensor<64xf32>) -> tensor<1x64x112x112xf16> loc("conv")
    %5 = "tpu.Relu"(%0) : (tensor<1x3x224x224xf32>) -> tensor<1x3x224x224xf32> loc("other")
    return %4, %5 : tensor<1x64x112x112xf16>, tensor<1x3x224x224xf32>
  }
}

// -----

// Two cores share the slices of a group.
// CHECK-LABEL: module @cores
// CHECK-NOT: "tpu.Rearrange"
module @cores attributes {module.state = "TPU_LOWERED", module.chip = "bm1688", module.cores = 2 : i64, module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x3x224x224xf32>) -> tensor<1x64x112x112xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x3x224x224xf32>) -> tensor<1x3x224x224xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<64x3x7x7xf16> loc("w")
    %2 = "top.Weight"() : () -> tensor<64xf32> loc("b")
    %3 = "tpu.Cast"(%0) : (tensor<1x3x224x224xf32>) -> tensor<1x3x224x224xf16> loc("cast")
    %4 = "tpu.Conv2D"(%3, %1, %2) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [2, 2], use_3ic_optimize = 0 : i64, with_bias = true} : (tensor<1x3x224x224xf16>, tensor<64x3x7x7xf16>, tensor<64xf32>) -> tensor<1x64x112x112xf16> loc("conv")
    return %4 : tensor<1x64x112x112xf16>
  }
}

// -----

// The result of the convolution is read twice: bands end with it.
// CHECK-LABEL: module @fork
// CHECK: [[Y:%.*]] = "tpu.Concat"{{.*}} -> tensor<1x64x112x112xf16>
// CHECK: [[R:%.*]] = "tpu.Relu"([[Y]])
// CHECK: "tpu.Add"([[Y]], [[R]])
module @fork attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x3x224x224xf32>) -> tensor<1x64x112x112xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x3x224x224xf32>) -> tensor<1x3x224x224xf32> loc("x")
    %1 = "top.Weight"() : () -> tensor<64x3x7x7xf16> loc("w")
    %2 = "top.Weight"() : () -> tensor<64xf32> loc("b")
    %3 = "tpu.Cast"(%0) : (tensor<1x3x224x224xf32>) -> tensor<1x3x224x224xf16> loc("cast")
    %4 = "tpu.Conv2D"(%3, %1, %2) {kernel_shape = [7, 7], pads = [3, 3, 3, 3], strides = [2, 2], use_3ic_optimize = 0 : i64, with_bias = true} : (tensor<1x3x224x224xf16>, tensor<64x3x7x7xf16>, tensor<64xf32>) -> tensor<1x64x112x112xf16> loc("conv")
    %5 = "tpu.Relu"(%4) : (tensor<1x64x112x112xf16>) -> tensor<1x64x112x112xf16> loc("relu")
    %6 = "tpu.Add"(%4, %5) : (tensor<1x64x112x112xf16>, tensor<1x64x112x112xf16>) -> tensor<1x64x112x112xf16> loc("sum")
    return %6 : tensor<1x64x112x112xf16>
  }
}
