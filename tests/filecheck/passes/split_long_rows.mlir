// RUN: tpu-opt %s --split-input-file --split-long-rows --no-locations | filecheck %s

// Ten channels of 64x64 are more than a lane holds: moments of the rows of every channel, then of
// the channels of a group, which a product brings together. The image is read twice, in f16.
// CHECK-LABEL: module @group_norm
// CHECK: "tpu.Cast"(%[[X:[0-9]+]]){{.*}} -> tensor<1x320x64x64xf32>
// CHECK-NEXT: "tpu.Reduce"{{.*}}axes = [3]{{.*}}"ReduceMean"{{.*}} -> tensor<1x320x64x1xf32>
// CHECK-NEXT: "tpu.Sub"{{.*}} -> tensor<1x320x64x64xf32>
// CHECK-NEXT: "tpu.Mul"{{.*}} -> tensor<1x320x64x64xf32>
// CHECK-NEXT: "tpu.Reduce"{{.*}}axes = [3]{{.*}}"ReduceMean"{{.*}} -> tensor<1x320x64x1xf32>
// CHECK-NEXT: "tpu.Reduce"{{.*}}axes = [2]{{.*}}"ReduceMean"{{.*}} -> tensor<1x320x1x1xf32>
// CHECK-NEXT: "top.Weight"{{.*}} -> tensor<32x320x1x1xf32>
// CHECK-NEXT: "tpu.Conv2D"{{.*}} -> tensor<1x32x1x1xf32>
// CHECK-NEXT: "top.Weight"{{.*}} -> tensor<320x32x1x1xf32>
// CHECK-NEXT: "tpu.Conv2D"{{.*}} -> tensor<1x320x1x1xf32>
// CHECK: "tpu.AddConst"
// CHECK-NEXT: "tpu.Active"{{.*}}RSQRT
// CHECK: "tpu.Cast"(%[[X]]){{.*}} -> tensor<1x320x64x64xf32>
// CHECK-NEXT: "tpu.Mul"{{.*}}tensor<1x320x1x1xf32>) -> tensor<1x320x64x64xf32>
// CHECK-NEXT: "tpu.Add"{{.*}} -> tensor<1x320x64x64xf32>
// CHECK-NEXT: "tpu.Cast"{{.*}} -> tensor<1x320x64x64xf16>
// CHECK-NOT: tpu.GroupNorm
module @group_norm attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x320x64x64xf16>) -> tensor<1x320x64x64xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x320x64x64xf16>) -> tensor<1x320x64x64xf16> loc("x")
    %1 = "tpu.GroupNorm"(%0, %n, %n, %n, %n) {num_groups = 32 : i64, eps = 1.0e-05 : f64} : (tensor<1x320x64x64xf16>, none, none, none, none) -> tensor<1x320x64x64xf16> loc("y")
    return %1 : tensor<1x320x64x64xf16>
  }
}

// -----

// Images that would fit a lane are computed alike, since they need not leave the chip then: here
// channels are their own groups.
// CHECK-LABEL: module @image
// CHECK-NOT: tpu.InstanceNorm
// CHECK-NOT: tpu.Conv2D
// CHECK: "tpu.Add"{{.*}} -> tensor<1x64x32x16xf32>
module @image attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64x32x16xf16>) -> tensor<1x64x32x16xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x64x32x16xf16>) -> tensor<1x64x32x16xf16> loc("x")
    %1 = "tpu.InstanceNorm"(%0, %n, %n, %n, %n) {eps = 1.0e-05 : f64} : (tensor<1x64x32x16xf16>, none, none, none, none) -> tensor<1x64x32x16xf16> loc("y")
    return %1 : tensor<1x64x32x16xf16>
  }
}

// -----

// A channel of one line stays one command: rows made of it would fit no slices of its neighbours.
// CHECK-LABEL: module @signal
// CHECK: "tpu.GroupNorm"
// CHECK-NOT: tpu.Reduce
module @signal attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64x6399xf16>) -> tensor<1x64x6399xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x64x6399xf16>) -> tensor<1x64x6399xf16> loc("x")
    %1 = "tpu.GroupNorm"(%0, %n, %n, %n, %n) {num_groups = 64 : i64, eps = 1.0e-05 : f64} : (tensor<1x64x6399xf16>, none, none, none, none) -> tensor<1x64x6399xf16> loc("y")
    return %1 : tensor<1x64x6399xf16>
  }
}

// -----

// One that no lane has room for does not.
// CHECK-LABEL: module @long_signal
// CHECK-NOT: tpu.GroupNorm
// CHECK: "tpu.Reduce"
module @long_signal attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64x20000xf16>) -> tensor<1x64x20000xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x64x20000xf16>) -> tensor<1x64x20000xf16> loc("x")
    %1 = "tpu.GroupNorm"(%0, %n, %n, %n, %n) {num_groups = 64 : i64, eps = 1.0e-05 : f64} : (tensor<1x64x20000xf16>, none, none, none, none) -> tensor<1x64x20000xf16> loc("y")
    return %1 : tensor<1x64x20000xf16>
  }
}

// -----

// Small ones, too: around a norm by itself they would go to DDR and come back.
// CHECK-LABEL: module @small_image
// CHECK-NOT: tpu.GroupNorm
// CHECK: "tpu.Add"{{.*}} -> tensor<1x48x5x5xf32>
module @small_image attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x48x5x5xf16>) -> tensor<1x48x5x5xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x48x5x5xf16>) -> tensor<1x48x5x5xf16> loc("x")
    %1 = "tpu.GroupNorm"(%0, %n, %n, %n, %n) {num_groups = 8 : i64, eps = 1.0e-05 : f64} : (tensor<1x48x5x5xf16>, none, none, none, none) -> tensor<1x48x5x5xf16> loc("y")
    return %1 : tensor<1x48x5x5xf16>
  }
}

// -----

// Not those whose channels would be averaged by matrices that take longer.
// CHECK-LABEL: module @many_channels
// CHECK: "tpu.GroupNorm"
// CHECK-NOT: tpu.Reduce
module @many_channels attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x1024x4x4xf16>) -> tensor<1x1024x4x4xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x1024x4x4xf16>) -> tensor<1x1024x4x4xf16> loc("x")
    %1 = "tpu.GroupNorm"(%0, %n, %n, %n, %n) {num_groups = 256 : i64, eps = 1.0e-05 : f64} : (tensor<1x1024x4x4xf16>, none, none, none, none) -> tensor<1x1024x4x4xf16> loc("y")
    return %1 : tensor<1x1024x4x4xf16>
  }
}

// -----

// So are those where all channels are one group, which would be one row of one lane.
// CHECK-LABEL: module @one_group
// CHECK-NOT: tpu.GroupNorm
// CHECK: mode = "ReduceMean"
module @one_group attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x128x4x16xf16>) -> tensor<1x128x4x16xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x128x4x16xf16>) -> tensor<1x128x4x16xf16> loc("x")
    %1 = "tpu.GroupNorm"(%0, %n, %n, %n, %n) {num_groups = 1 : i64, eps = 1.0e-05 : f64} : (tensor<1x128x4x16xf16>, none, none, none, none) -> tensor<1x128x4x16xf16> loc("y")
    return %1 : tensor<1x128x4x16xf16>
  }
}

// -----

// Channels of one element have no rows: a group is one, in parts.
// CHECK-LABEL: module @no_rows
// CHECK: "tpu.Reshape"{{.*}} -> tensor<1x40000x1xf32>
// CHECK: "tpu.Reduce"{{.*}}axes = [2]{{.*}}"ReduceSum"
// CHECK-NOT: tpu.Conv2D
module @no_rows attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x40000x1x1xf32>) -> tensor<1x40000x1x1xf32> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x40000x1x1xf32>) -> tensor<1x40000x1x1xf32> loc("x")
    %1 = "tpu.GroupNorm"(%0, %n, %n, %n, %n) {num_groups = 1 : i64, eps = 1.0e-05 : f64} : (tensor<1x40000x1x1xf32>, none, none, none, none) -> tensor<1x40000x1x1xf32> loc("y")
    return %1 : tensor<1x40000x1x1xf32>
  }
}

// -----

// A prime number of elements: what is left over is a part of its own.
// CHECK-LABEL: module @prime
// CHECK: "tpu.Slice"{{.*}}ends = [2, 50016, 1]{{.*}} -> tensor<2x50016x1xf32>
// CHECK-NEXT: "tpu.Reshape"
// CHECK-NEXT: "tpu.Reduce"{{.*}}"ReduceMax"
// CHECK-NEXT: "tpu.Reshape"
// CHECK-NEXT: "tpu.Slice"{{.*}}ends = [2, 50021, 1]{{.*}}offset = [0, 50016, 0]{{.*}} -> tensor<2x5x1xf32>
// CHECK-NEXT: "tpu.Reduce"{{.*}}"ReduceMax"
// CHECK-NEXT: "tpu.Concat"
// CHECK-NEXT: "tpu.Reduce"{{.*}}"ReduceMax"
// CHECK-NEXT: "tpu.Reshape"{{.*}} -> tensor<2xf32>
module @prime attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x50021xf32>) -> tensor<2xf32> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<2x50021xf32>) -> tensor<2x50021xf32> loc("x")
    %1 = "tpu.Reduce"(%0, %n, %n) {axes = [1], keepdims = false, mode = "ReduceMax"} : (tensor<2x50021xf32>, none, none) -> tensor<2xf32> loc("y")
    return %1 : tensor<2xf32>
  }
}

// -----

// Rows that fit stay, in f16 also longer ones than in f32.
// CHECK-LABEL: module @short
// CHECK: "tpu.Softmax"(%{{.*}} -> tensor<2x8000xf32>
// CHECK: "tpu.Softmax"(%{{.*}} -> tensor<2x14000xf16>
// CHECK-NOT: tpu.Reduce
module @short attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<2x8000xf32>, %arg1: tensor<2x14000xf16>) -> (tensor<2x8000xf32>, tensor<2x14000xf16>) {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<2x8000xf32>) -> tensor<2x8000xf32> loc("a")
    %1 = "top.Input"(%arg1) : (tensor<2x14000xf16>) -> tensor<2x14000xf16> loc("b")
    %2 = "tpu.Softmax"(%0, %n, %n, %n, %n, %n) {axis = 1 : si32} : (tensor<2x8000xf32>, none, none, none, none, none) -> tensor<2x8000xf32> loc("c")
    %3 = "tpu.Softmax"(%1, %n, %n, %n, %n, %n) {axis = 1 : si32} : (tensor<2x14000xf16>, none, none, none, none, none) -> tensor<2x14000xf16> loc("d")
    return %2, %3 : tensor<2x8000xf32>, tensor<2x14000xf16>
  }
}

// -----

// Windows smaller than the image are not rows.
// CHECK-LABEL: module @others
// CHECK: "tpu.Pool2D"
// CHECK-NOT: tpu.Reduce
module @others attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x8x300x300xf32>) -> tensor<1x8x2x2xf32> {
    %0 = "top.Input"(%arg0) : (tensor<1x8x300x300xf32>) -> tensor<1x8x300x300xf32> loc("x")
    %1 = "tpu.Pool2D"(%0) {kernel_shape = [150, 150], strides = [150, 150], pads = [0, 0, 0, 0], pool_mode = #tpu<pool_mode Max>} : (tensor<1x8x300x300xf32>) -> tensor<1x8x2x2xf32> loc("y")
    return %1 : tensor<1x8x2x2xf32>
  }
}

// -----

// Rows that were images: each channel is divided by the length of its image, which stays narrow,
// and what the rows are multiplied by is a factor of the lengths.
// CHECK-LABEL: module @rows_of_images
// CHECK-NEXT: func.func
// CHECK-NEXT: "top.None"
// CHECK-NEXT: %[[X:[0-9]+]] = "top.Input"
// CHECK-NEXT: "tpu.Reduce"(%[[X]]{{.*}}axes = [3]{{.*}}"ReduceL2"{{.*}}xf16>{{.*}} -> tensor<1x96x128x1xf32>
// CHECK-NEXT: "tpu.Reduce"{{.*}}axes = [2]{{.*}}"ReduceL2"{{.*}} -> tensor<1x96x1x1xf32>
// CHECK-NEXT: "tpu.Mul"
// CHECK-NEXT: "tpu.MulConst"{{.*}} -> tensor<1x96x1x1xf32>
// CHECK-NEXT: "tpu.AddConst"
// CHECK-NEXT: "tpu.Active"{{.*}}RSQRT
// CHECK-NEXT: "tpu.MulConst"{{.*}} -> tensor<1x96x1x1xf32>
// CHECK-NEXT: "tpu.Mul"(%[[X]]{{.*}}xf16>, tensor<1x96x1x1xf32>) -> tensor<1x96x128x128xf16>
// CHECK-NEXT: "tpu.Reshape"{{.*}} -> tensor<1x1x96x16384xf16>
// CHECK-NEXT: return
module @rows_of_images attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x96x128x128xf16>) -> tensor<1x1x96x16384xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x96x128x128xf16>) -> tensor<1x96x128x128xf16> loc("x")
    %1 = "tpu.Reshape"(%0) {shape = [1, 1, 96, 16384]} : (tensor<1x96x128x128xf16>) -> tensor<1x1x96x16384xf16> loc("rows")
    %2 = "tpu.RMSNorm"(%1, %n) {eps = 1.0e-12 : f64} : (tensor<1x1x96x16384xf16>, none) -> tensor<1x1x96x16384xf16> loc("norm")
    %3 = "tpu.MulConst"(%2) {const_val = 7.8125e-03 : f64} : (tensor<1x1x96x16384xf16>) -> tensor<1x1x96x16384xf16> loc("y")
    return %3 : tensor<1x1x96x16384xf16>
  }
}

// -----

// What has another use, too, keeps its numbers.
// CHECK-LABEL: module @also_unscaled
// CHECK: "tpu.Active"{{.*}}RSQRT
// CHECK-NOT: "tpu.MulConst"{{.*}} -> tensor<1x96x1x1xf32>
// CHECK: "tpu.MulConst"{{.*}} -> tensor<96x16384xf16>
module @also_unscaled attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<96x16384xf16>) -> (tensor<96x16384xf16>, tensor<96x16384xf16>) {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<96x16384xf16>) -> tensor<96x16384xf16> loc("x")
    %1 = "tpu.RMSNorm"(%0, %n) {eps = 1.0e-12 : f64} : (tensor<96x16384xf16>, none) -> tensor<96x16384xf16> loc("norm")
    %2 = "tpu.MulConst"(%1) {const_val = 7.8125e-03 : f64} : (tensor<96x16384xf16>) -> tensor<96x16384xf16> loc("y")
    return %1, %2 : tensor<96x16384xf16>, tensor<96x16384xf16>
  }
}

// -----

// An image that was cast for the norm is cast again by each of its readers: f32 never leaves a group.
// CHECK-LABEL: module @cast_image
// CHECK: %[[X:[0-9]+]] = "top.Input"
// CHECK-NEXT: "tpu.Cast"(%[[X]]){{.*}} -> tensor<1x64x32x16xf32>
// CHECK-NEXT: "tpu.Reduce"
// CHECK: "tpu.Cast"(%[[X]]){{.*}} -> tensor<1x64x32x16xf32>
// CHECK-NEXT: "tpu.Mul"
// CHECK-NEXT: "tpu.Add"
// CHECK-NOT: "tpu.Cast"
module @cast_image attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64x32x16xf16>) -> tensor<1x64x32x16xf32> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x64x32x16xf16>) -> tensor<1x64x32x16xf16> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<1x64x32x16xf16>) -> tensor<1x64x32x16xf32> loc("wide")
    %2 = "tpu.InstanceNorm"(%1, %n, %n, %n, %n) {eps = 1.0e-05 : f64} : (tensor<1x64x32x16xf32>, none, none, none, none) -> tensor<1x64x32x16xf32> loc("y")
    return %2 : tensor<1x64x32x16xf32>
  }
}

// -----

// What came wider than f32's reader needs is no such cast: integers stay cast once.
// CHECK-LABEL: module @cast_elsewhere
// CHECK: %[[X:[0-9]+]] = "tpu.Cast"
// CHECK-NEXT: "tpu.Reduce"(%[[X]]
// CHECK-NOT: "tpu.Cast"
module @cast_elsewhere attributes {module.state = "TPU_LOWERED"} {
  func.func @main(%arg0: tensor<1x64x32x16xsi32>) -> tensor<1x64x32x16xf32> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x64x32x16xsi32>) -> tensor<1x64x32x16xsi32> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<1x64x32x16xsi32>) -> tensor<1x64x32x16xf32> loc("wide")
    %2 = "tpu.InstanceNorm"(%1, %n, %n, %n, %n) {eps = 1.0e-05 : f64} : (tensor<1x64x32x16xf32>, none, none, none, none) -> tensor<1x64x32x16xf32> loc("y")
    return %2 : tensor<1x64x32x16xf32>
  }
}
