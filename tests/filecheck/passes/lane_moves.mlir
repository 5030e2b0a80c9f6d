// RUN: tpu-opt %s --split-input-file --lane-moves --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --weight-reorder --subnet-divide --lane-moves --layer-group --address-assign --verify-addresses --verify-layer-groups --no-locations | filecheck %s --check-prefix=GROUPS

// Windows of an image, from pixels over the lanes to pixels over the lanes, are one op.
// CHECK-LABEL: module @windows
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK-NEXT: [[B:%.*]] = "tpu.Rearrange"([[A]]) {boxes = {{.*}}, in_lanes = true} : (tensor<1x256x60xf16>) -> tensor<16x16x60xf16>
// CHECK-NEXT: "tpu.Relu"([[B]])
// GROUPS-LABEL: module @windows
// GROUPS: "tpu.Group"
// GROUPS: "tpu.Rearrange"{{.*}}ginfo
// GROUPS-NOT: "tpu.Group"
module @windows attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x256x60xf16>) -> tensor<16x16x60xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x256x60xf16>) -> tensor<1x256x60xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x256x60xf16>) -> tensor<1x256x60xf16> loc("a")
    %2 = "tpu.Reshape"(%1) {shape = [1, 4, 4, 4, 4, 60]} : (tensor<1x256x60xf16>) -> tensor<1x4x4x4x4x60xf16> loc("b")
    %3 = "tpu.Permute"(%2, %n) {order = [0, 1, 3, 2, 4, 5]} : (tensor<1x4x4x4x4x60xf16>, none) -> tensor<1x4x4x4x4x60xf16> loc("c")
    %4 = "tpu.Reshape"(%3) {shape = [16, 16, 60]} : (tensor<1x4x4x4x4x60xf16>) -> tensor<16x16x60xf16> loc("d")
    %5 = "tpu.Relu"(%4) : (tensor<16x16x60xf16>) -> tensor<16x16x60xf16> loc("e")
    return %5 : tensor<16x16x60xf16>
  }
}

// -----

// Parts of what others read too: each is an op of its own, and nothing is left of what they share.
// CHECK-LABEL: module @parts
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK-NOT: "tpu.Reshape"
// CHECK: "tpu.Rearrange"([[A]]) {{.*}}in_lanes = true{{.*}} -> tensor<4x196x48xf16>
// CHECK: "tpu.Rearrange"([[A]]) {{.*}}in_lanes = true{{.*}} -> tensor<4x196x48xf16>
// CHECK-NOT: "tpu.Reshape"
// GROUPS-LABEL: module @parts
module @parts attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x196x384xf16>) -> tensor<4x196x48xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x196x384xf16>) -> tensor<1x196x384xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x196x384xf16>) -> tensor<1x196x384xf16> loc("a")
    %2 = "tpu.Reshape"(%1) {shape = [196, 8, 48]} : (tensor<1x196x384xf16>) -> tensor<196x8x48xf16> loc("b")
    %3 = "tpu.Slice"(%2, %n, %n, %n, %n) {offset = [0, 0, 0], ends = [196, 4, 48], steps = [1, 1, 1]} : (tensor<196x8x48xf16>, none, none, none, none) -> tensor<196x4x48xf16> loc("c")
    %4 = "tpu.Permute"(%3, %n) {order = [1, 0, 2]} : (tensor<196x4x48xf16>, none) -> tensor<4x196x48xf16> loc("d")
    %5 = "tpu.Slice"(%2, %n, %n, %n, %n) {offset = [0, 4, 0], ends = [196, 8, 48], steps = [1, 1, 1]} : (tensor<196x8x48xf16>, none, none, none, none) -> tensor<196x4x48xf16> loc("e")
    %6 = "tpu.Permute"(%5, %n) {order = [1, 0, 2]} : (tensor<196x4x48xf16>, none) -> tensor<4x196x48xf16> loc("f")
    %7 = "tpu.Add"(%4, %6) : (tensor<4x196x48xf16>, tensor<4x196x48xf16>) -> tensor<4x196x48xf16> loc("g")
    return %7 : tensor<4x196x48xf16>
  }
}

// -----

// What lies in DDR is read in any order by whoever loads it.
// CHECK-LABEL: module @input
// CHECK-NOT: "tpu.Rearrange"
// GROUPS-LABEL: module @input
module @input attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x128x48xf16>) -> tensor<1x8x16x48xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x128x48xf16>) -> tensor<1x128x48xf16> loc("x")
    %1 = "tpu.Reshape"(%0) {shape = [1, 8, 16, 48]} : (tensor<1x128x48xf16>) -> tensor<1x8x16x48xf16> loc("a")
    %2 = "tpu.Relu"(%1) : (tensor<1x8x16x48xf16>) -> tensor<1x8x16x48xf16> loc("b")
    return %2 : tensor<1x8x16x48xf16>
  }
}

// -----

// Neither channels nor neighbours stay together, nor would they behind an exchange: there is no way.
// CHECK-LABEL: module @scattered
// CHECK-NOT: "tpu.Rearrange"
// GROUPS-LABEL: module @scattered
module @scattered attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x60x77xf16>) -> tensor<1x7x660xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x60x77xf16>) -> tensor<1x60x77xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x60x77xf16>) -> tensor<1x60x77xf16> loc("a")
    %2 = "tpu.Reshape"(%1) {shape = [6, 10, 7, 11]} : (tensor<1x60x77xf16>) -> tensor<6x10x7x11xf16> loc("b")
    %3 = "tpu.Permute"(%2, %n) {order = [2, 3, 1, 0]} : (tensor<6x10x7x11xf16>, none) -> tensor<7x11x10x6xf16> loc("c")
    %4 = "tpu.Reshape"(%3) {shape = [1, 7, 660]} : (tensor<7x11x10x6xf16>) -> tensor<1x7x660xf16> loc("d")
    %5 = "tpu.Relu"(%4) : (tensor<1x7x660xf16>) -> tensor<1x7x660xf16> loc("e")
    return %5 : tensor<1x7x660xf16>
  }
}

// -----

// All ops of a chain have a local form already.
// CHECK-LABEL: module @local
// CHECK: "tpu.Permute"
// CHECK-NOT: "tpu.Rearrange"
// GROUPS-LABEL: module @local
module @local attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x32xf16>) -> tensor<1x32x64xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x64x32xf16>) -> tensor<1x64x32xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x64x32xf16>) -> tensor<1x64x32xf16> loc("a")
    %2 = "tpu.Permute"(%1, %n) {order = [0, 2, 1]} : (tensor<1x64x32xf16>, none) -> tensor<1x32x64xf16> loc("b")
    %3 = "tpu.Relu"(%2) : (tensor<1x32x64xf16>) -> tensor<1x32x64xf16> loc("c")
    return %3 : tensor<1x32x64xf16>
  }
}

// -----

// Rows that are put side by side: each has a line of every lane for itself on the way.
// CHECK-LABEL: module @room
// CHECK-COUNT-2: "tpu.Rearrange"
// GROUPS-LABEL: module @room
module @room attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<2048x64xf16>) -> tensor<128x1024xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<2048x64xf16>) -> tensor<2048x64xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<2048x64xf16>) -> tensor<2048x64xf16> loc("a")
    %2 = "tpu.Reshape"(%1) {shape = [4, 16, 32, 64]} : (tensor<2048x64xf16>) -> tensor<4x16x32x64xf16> loc("b")
    %3 = "tpu.Permute"(%2, %n) {order = [0, 2, 1, 3]} : (tensor<4x16x32x64xf16>, none) -> tensor<4x32x16x64xf16> loc("c")
    %4 = "tpu.Reshape"(%3) {shape = [128, 1024]} : (tensor<4x32x16x64xf16>) -> tensor<128x1024xf16> loc("d")
    %5 = "tpu.Relu"(%4) : (tensor<128x1024xf16>) -> tensor<128x1024xf16> loc("e")
    return %5 : tensor<128x1024xf16>
  }
}

// -----

// Twice as many lines are more than a lane has.
// CHECK-LABEL: module @no_room
// CHECK: "tpu.Permute"
// CHECK-NOT: "tpu.Rearrange"
// CHECK: "tpu.Relu"
// GROUPS-LABEL: module @no_room
module @no_room attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<4096x64xf16>) -> tensor<128x2048xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<4096x64xf16>) -> tensor<4096x64xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<4096x64xf16>) -> tensor<4096x64xf16> loc("a")
    %2 = "tpu.Reshape"(%1) {shape = [4, 32, 32, 64]} : (tensor<4096x64xf16>) -> tensor<4x32x32x64xf16> loc("b")
    %3 = "tpu.Permute"(%2, %n) {order = [0, 2, 1, 3]} : (tensor<4x32x32x64xf16>, none) -> tensor<4x32x32x64xf16> loc("c")
    %4 = "tpu.Reshape"(%3) {shape = [128, 2048]} : (tensor<4x32x32x64xf16>) -> tensor<128x2048xf16> loc("d")
    %5 = "tpu.Relu"(%4) : (tensor<128x2048xf16>) -> tensor<128x2048xf16> loc("e")
    return %5 : tensor<128x2048xf16>
  }
}

// -----

// Pixels of an image become rows of heads: rows of all channels on the way.
// CHECK-LABEL: module @heads_of_an_image
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK-NEXT: [[B:%.*]] = "tpu.Rearrange"([[A]]) {{.*}} -> tensor<1x49x320xf16>
// CHECK-NEXT: [[C:%.*]] = "tpu.Rearrange"([[B]]) {{.*}} -> tensor<1x8x49x40xf16>
// CHECK-NEXT: "tpu.Relu"([[C]])
// GROUPS-LABEL: module @heads_of_an_image
// GROUPS: "tpu.Rearrange"{{.*}}ginfo
// GROUPS: "tpu.Rearrange"{{.*}}ginfo
module @heads_of_an_image attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x320x7x7xf16>) -> tensor<1x8x49x40xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x320x7x7xf16>) -> tensor<1x320x7x7xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x320x7x7xf16>) -> tensor<1x320x7x7xf16> loc("a")
    %2 = "tpu.Reshape"(%1) {shape = [1, 8, 40, 49]} : (tensor<1x320x7x7xf16>) -> tensor<1x8x40x49xf16> loc("b")
    %3 = "tpu.Permute"(%2, %n) {order = [0, 1, 3, 2]} : (tensor<1x8x40x49xf16>, none) -> tensor<1x8x49x40xf16> loc("c")
    %4 = "tpu.Relu"(%3) : (tensor<1x8x49x40xf16>) -> tensor<1x8x49x40xf16> loc("d")
    return %4 : tensor<1x8x49x40xf16>
  }
}

// -----

// There is no way for blocks and rows in one, but the first op has a local form: the second one gets one.
// CHECK-LABEL: module @rows_behind_blocks
// CHECK: [[A:%.*]] = "tpu.Depth2Space"
// CHECK-NEXT: [[B:%.*]] = "tpu.Rearrange"([[A]]) {{.*}} -> tensor<1x64x16x64xf16>
// CHECK-NEXT: "tpu.Relu"([[B]])
// GROUPS-LABEL: module @rows_behind_blocks
// GROUPS: "tpu.Rearrange"{{.*}}ginfo
module @rows_behind_blocks attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x32x32xf16>) -> tensor<1x64x16x64xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x64x32x32xf16>) -> tensor<1x64x32x32xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x64x32x32xf16>) -> tensor<1x64x32x32xf16> loc("a")
    %2 = "tpu.Depth2Space"(%1) {block_h = 2 : i64, block_w = 2 : i64, is_CRD = false, is_inversed = false} : (tensor<1x64x32x32xf16>) -> tensor<1x16x64x64xf16> loc("b")
    %3 = "tpu.Reshape"(%2) {shape = [1, 64, 16, 64]} : (tensor<1x16x64x64xf16>) -> tensor<1x64x16x64xf16> loc("c")
    %4 = "tpu.Relu"(%3) : (tensor<1x64x16x64xf16>) -> tensor<1x64x16x64xf16> loc("d")
    return %4 : tensor<1x64x16x64xf16>
  }
}

// -----

// The same the other way round: rows leave their lanes in front of an op that has a local form.
// CHECK-LABEL: module @rows_in_front_of_blocks
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK-NEXT: [[B:%.*]] = "tpu.Rearrange"([[A]]) {{.*}} -> tensor<1x256x16x32xf16>
// CHECK-NEXT: [[C:%.*]] = "tpu.Depth2Space"([[B]])
// CHECK-NEXT: "tpu.Relu"([[C]])
// GROUPS-LABEL: module @rows_in_front_of_blocks
// GROUPS: "tpu.Rearrange"{{.*}}ginfo
module @rows_in_front_of_blocks attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x64x32xf16>) -> tensor<1x64x32x64xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x64x64x32xf16>) -> tensor<1x64x64x32xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x64x64x32xf16>) -> tensor<1x64x64x32xf16> loc("a")
    %2 = "tpu.Reshape"(%1) {shape = [1, 256, 16, 32]} : (tensor<1x64x64x32xf16>) -> tensor<1x256x16x32xf16> loc("b")
    %3 = "tpu.Depth2Space"(%2) {block_h = 2 : i64, block_w = 2 : i64, is_CRD = false, is_inversed = false} : (tensor<1x256x16x32xf16>) -> tensor<1x64x32x64xf16> loc("c")
    %4 = "tpu.Relu"(%3) : (tensor<1x64x32x64xf16>) -> tensor<1x64x32x64xf16> loc("d")
    return %4 : tensor<1x64x32x64xf16>
  }
}

// -----

// Another part of the chain has no local form: what it makes lies in DDR, and is read from there.
// CHECK-LABEL: module @behind_what_lies_in_ddr
// CHECK-NOT: "tpu.Rearrange"
// GROUPS-LABEL: module @behind_what_lies_in_ddr
module @behind_what_lies_in_ddr attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x64x16x8x8xf16>) -> tensor<1x256x8x8xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x64x16x8x8xf16>) -> tensor<1x64x16x8x8xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x64x16x8x8xf16>) -> tensor<1x64x16x8x8xf16> loc("a")
    %2 = "tpu.Reshape"(%1) {shape = [1, 64, 1024]} : (tensor<1x64x16x8x8xf16>) -> tensor<1x64x1024xf16> loc("b")
    %3 = "tpu.Reshape"(%2) {shape = [1, 64, 16, 64]} : (tensor<1x64x1024xf16>) -> tensor<1x64x16x64xf16> loc("c")
    %4 = "tpu.Permute"(%3, %n) {order = [0, 2, 1, 3]} : (tensor<1x64x16x64xf16>, none) -> tensor<1x16x64x64xf16> loc("d")
    %5 = "tpu.Reshape"(%4) {shape = [1, 1024, 8, 8]} : (tensor<1x16x64x64xf16>) -> tensor<1x1024x8x8xf16> loc("e")
    %6 = "tpu.Slice"(%5, %n, %n, %n, %n) {offset = [0, 0, 0, 0], ends = [1, 256, 8, 8], steps = [1, 1, 1, 1]} : (tensor<1x1024x8x8xf16>, none, none, none, none) -> tensor<1x256x8x8xf16> loc("f")
    %7 = "tpu.Relu"(%6) : (tensor<1x256x8x8xf16>) -> tensor<1x256x8x8xf16> loc("g")
    return %7 : tensor<1x256x8x8xf16>
  }
}

// -----

// What is returned in another order is stored in equal parts of all lanes; a view alone only where its rows
// are short.
// CHECK-LABEL: module @returned
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK-NEXT: [[B:%.*]] = "tpu.Rearrange"([[A]]) {boxes = {{.*}}, in_lanes = true} : (tensor<1x256x4xf16>) -> tensor<1x64x16xf16>
// CHECK-NEXT: [[C:%.*]] = "tpu.Reshape"([[B]]) {{.*}} -> tensor<256x4xf16>
// CHECK: [[D:%.*]] = "tpu.Relu"
// CHECK-NEXT: [[E:%.*]] = "tpu.Reshape"([[D]]) {{.*}} (tensor<1x64x256xf16>) -> tensor<64x256xf16>
// CHECK: return [[C]], [[E]]
module @returned attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x256x4xf16>, %arg1: tensor<1x64x256xf16>) -> (tensor<256x4xf16>, tensor<64x256xf16>) {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x256x4xf16>) -> tensor<1x256x4xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x256x4xf16>) -> tensor<1x256x4xf16> loc("a")
    %2 = "tpu.Reshape"(%1) {shape = [4, 64, 4]} : (tensor<1x256x4xf16>) -> tensor<4x64x4xf16> loc("b")
    %3 = "tpu.Permute"(%2, %n) {order = [1, 0, 2]} : (tensor<4x64x4xf16>, none) -> tensor<64x4x4xf16> loc("c")
    %4 = "tpu.Reshape"(%3) {shape = [256, 4]} : (tensor<64x4x4xf16>) -> tensor<256x4xf16> loc("d")
    %5 = "top.Input"(%arg1) : (tensor<1x64x256xf16>) -> tensor<1x64x256xf16> loc("z")
    %6 = "tpu.Relu"(%5) : (tensor<1x64x256xf16>) -> tensor<1x64x256xf16> loc("e")
    %7 = "tpu.Reshape"(%6) {shape = [64, 256]} : (tensor<1x64x256xf16>) -> tensor<64x256xf16> loc("f")
    return %4, %7 : tensor<256x4xf16>, tensor<64x256xf16>
  }
}

// -----

// What comes from DDR in rows of three numbers comes in equal parts of all lanes, cast there.
// CHECK-LABEL: module @short_rows
// CHECK: [[A:%.*]] = "tpu.Reshape"{{.*}} : (tensor<1x2048x3xf32>) -> tensor<1x64x96xf32>
// CHECK-NEXT: [[B:%.*]] = "tpu.Cast"([[A]]){{.*}} -> tensor<1x64x96xf16>
// CHECK-NEXT: [[C:%.*]] = "tpu.Rearrange"([[B]]) {boxes = {{.*}}, in_lanes = true} : (tensor<1x64x96xf16>) -> tensor<1x2048x3xf16>
// CHECK-NEXT: "tpu.Relu"([[C]])
// GROUPS-LABEL: module @short_rows
// GROUPS: "tpu.Group"
// GROUPS: "tpu.Load"{{.*}} -> tensor<1x64x96xf32>
// GROUPS: "tpu.Rearrange"{{.*}}ginfo
module @short_rows attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x2048x3xf32>) -> tensor<1x2048x1xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x2048x3xf32>) -> tensor<1x2048x3xf32> loc("x")
    %1 = "tpu.Cast"(%0) : (tensor<1x2048x3xf32>) -> tensor<1x2048x3xf16> loc("a")
    %2 = "tpu.Relu"(%1) : (tensor<1x2048x3xf16>) -> tensor<1x2048x3xf16> loc("b")
    %3 = "tpu.Reduce"(%2, %n, %n) {axes = [2], keepdims = true, mode = "ReduceSum"} : (tensor<1x2048x3xf16>, none, none) -> tensor<1x2048x1xf16> loc("c")
    return %3 : tensor<1x2048x1xf16>
  }
}

// -----

// Long rows come as they are.
// CHECK-LABEL: module @long_rows
// CHECK-NOT: "tpu.Rearrange"
// GROUPS-LABEL: module @long_rows
module @long_rows attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x128x48xf16>) -> tensor<1x128x48xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x128x48xf16>) -> tensor<1x128x48xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x128x48xf16>) -> tensor<1x128x48xf16> loc("a")
    return %1 : tensor<1x128x48xf16>
  }
}

// -----

// Rows of four numbers that an op returns are stored in equal parts of most lanes.
// CHECK-LABEL: module @returned_rows
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK-NEXT: [[B:%.*]] = "tpu.Rearrange"([[A]]) {boxes = {{.*}}, in_lanes = true} : (tensor<1x2100x4xf16>) -> tensor<1x50x168xf16>
// CHECK-NEXT: [[C:%.*]] = "tpu.Reshape"([[B]]) {{.*}} -> tensor<1x2100x4xf16>
// CHECK-NEXT: return [[C]]
// GROUPS-LABEL: module @returned_rows
// GROUPS: "tpu.Store"{{.*}}tensor<1x50x168xf16
module @returned_rows attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x2100x32xf16>) -> tensor<1x2100x4xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x2100x32xf16>) -> tensor<1x2100x32xf16> loc("x")
    %1 = "tpu.Slice"(%0, %n, %n, %n, %n) {axes = [], offset = [0, 0, 0], ends = [1, 2100, 4], steps = [1, 1, 1]} : (tensor<1x2100x32xf16>, none, none, none, none) -> tensor<1x2100x4xf16> loc("a")
    %2 = "tpu.Relu"(%1) : (tensor<1x2100x4xf16>) -> tensor<1x2100x4xf16> loc("y")
    return %2 : tensor<1x2100x4xf16>
  }
}

// -----

// Of 211 rows most lanes have no equal parts.
// CHECK-LABEL: module @odd_rows
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK-NEXT: return [[A]]
// GROUPS-LABEL: module @odd_rows
module @odd_rows attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x211x32xf16>) -> tensor<1x211x4xf16> {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x211x32xf16>) -> tensor<1x211x32xf16> loc("x")
    %1 = "tpu.Slice"(%0, %n, %n, %n, %n) {axes = [], offset = [0, 0, 0], ends = [1, 211, 4], steps = [1, 1, 1]} : (tensor<1x211x32xf16>, none, none, none, none) -> tensor<1x211x4xf16> loc("a")
    %2 = "tpu.Relu"(%1) : (tensor<1x211x4xf16>) -> tensor<1x211x4xf16> loc("y")
    return %2 : tensor<1x211x4xf16>
  }
}

// -----

// Parts that overlap are taken of what was moved once.
// CHECK-LABEL: module @overlapping
// CHECK: [[A:%.*]] = "tpu.Relu"
// CHECK-NEXT: [[B:%.*]] = "tpu.Rearrange"([[A]]){{.*}}in_lanes = true{{.*}}-> tensor<8x96x64xf16>
// CHECK-NEXT: "tpu.Slice"([[B]]
// CHECK-NEXT: "tpu.Relu"
// CHECK-NEXT: "tpu.Slice"([[B]]
// CHECK-NEXT: "tpu.Relu"
// GROUPS-LABEL: module @overlapping
module @overlapping attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x512x96xf16>) -> (tensor<7x96x64xf16>, tensor<7x96x64xf16>) {
    %n = "top.None"() : () -> none loc(unknown)
    %0 = "top.Input"(%arg0) : (tensor<1x512x96xf16>) -> tensor<1x512x96xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x512x96xf16>) -> tensor<1x512x96xf16> loc("a")
    %2 = "tpu.Reshape"(%1) {shape = [8, 64, 96]} : (tensor<1x512x96xf16>) -> tensor<8x64x96xf16> loc("b")
    %3 = "tpu.Permute"(%2, %n) {order = [0, 2, 1]} : (tensor<8x64x96xf16>, none) -> tensor<8x96x64xf16> loc("c")
    %4 = "tpu.Slice"(%3, %n, %n, %n, %n) {axes = [], offset = [0, 0, 0], ends = [7, 96, 64], steps = [1, 1, 1]} : (tensor<8x96x64xf16>, none, none, none, none) -> tensor<7x96x64xf16> loc("d")
    %5 = "tpu.Relu"(%4) : (tensor<7x96x64xf16>) -> tensor<7x96x64xf16> loc("e")
    %6 = "tpu.Slice"(%3, %n, %n, %n, %n) {axes = [], offset = [1, 0, 0], ends = [8, 96, 64], steps = [1, 1, 1]} : (tensor<8x96x64xf16>, none, none, none, none) -> tensor<7x96x64xf16> loc("f")
    %7 = "tpu.Relu"(%6) : (tensor<7x96x64xf16>) -> tensor<7x96x64xf16> loc("g")
    return %5, %7 : tensor<7x96x64xf16>, tensor<7x96x64xf16>
  }
}
