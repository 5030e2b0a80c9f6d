// RUN: tpu-opt %s --subnet-divide --merge-moves | filecheck %s
// RUN: tpu-opt %s --subnet-divide --merge-moves --address-assign --verify-addresses | filecheck %s --check-prefix=PLACES

module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x", module.mode = "F16"} {
  func.func @main(%arg0: tensor<1x144x32x32xf16>, %arg1: tensor<1x512x32x16xf16>) -> (tensor<1x4x256x144xf16>, tensor<8x64x64xf16>, tensor<8x64x64xf16>, tensor<64x2x64xf16>, tensor<1x512x16xf16>, tensor<1x36x66x66xf16>, tensor<12x10xf16>) {
    %none = "top.None"() : () -> none loc(unknown)
    %x = "top.Input"(%arg0) : (tensor<1x144x32x32xf16>) -> tensor<1x144x32x32xf16> loc("x")
    %y = "top.Input"(%arg1) : (tensor<1x512x32x16xf16>) -> tensor<1x512x32x16xf16> loc("y")

// A chain is one op, the shapes in between are gone.
// CHECK: [[A:%[0-9]+]] = "tpu.Reshape"(%arg0)
// CHECK-NEXT: "tpu.Rearrange"([[A]]) {boxes = [0, 0, 0, 5, 2, 73728, 32, 2, 36864, 1, 16, 2304, 64, 16, 144, 2, 144, 1, 1024]} : (tensor<2304x2x16x2xf16>) -> tensor<1x4x256x144xf16>
    %a = "tpu.Reshape"(%x) {shape = [2304, 2, 16, 2]} : (tensor<1x144x32x32xf16>) -> tensor<2304x2x16x2xf16> loc("a")
    %b = "tpu.Permute"(%a, %none) {order = [0, 2, 1, 3]} : (tensor<2304x2x16x2xf16>, none) -> tensor<2304x16x2x2xf16> loc("b")
    %c = "tpu.Reshape"(%b) {shape = [1, 144, 256, 4]} : (tensor<2304x16x2x2xf16>) -> tensor<1x144x256x4xf16> loc("c")
    %d = "tpu.Permute"(%c, %none) {order = [0, 3, 2, 1]} : (tensor<1x144x256x4xf16>, none) -> tensor<1x4x256x144xf16> loc("d")

// What computes ends a chain, and so does what is used twice.
// CHECK: "tpu.Rearrange"
// CHECK-NEXT: "tpu.Relu"
// CHECK-NEXT: [[H:%[0-9]+]] = "tpu.Permute"
// CHECK-NEXT: "tpu.Rearrange"([[H]])
    %e = "tpu.Reshape"(%y) {shape = [64, 64, 64]} : (tensor<1x512x32x16xf16>) -> tensor<64x64x64xf16> loc("e")
    %e1 = "tpu.Slice"(%e, %none, %none, %none, %none) {offset = [0, 0, 0], ends = [8, 64, 64], steps = [1, 1, 1]} : (tensor<64x64x64xf16>, none, none, none, none) -> tensor<8x64x64xf16> loc("e1")
    %f = "tpu.Permute"(%e1, %none) {order = [0, 2, 1]} : (tensor<8x64x64xf16>, none) -> tensor<8x64x64xf16> loc("f")
    %g = "tpu.Relu"(%f) : (tensor<8x64x64xf16>) -> tensor<8x64x64xf16> loc("g")
    %h = "tpu.Permute"(%g, %none) {order = [0, 2, 1]} : (tensor<8x64x64xf16>, none) -> tensor<8x64x64xf16> loc("h")
    %i = "tpu.Permute"(%h, %none) {order = [2, 1, 0]} : (tensor<8x64x64xf16>, none) -> tensor<64x64x8xf16> loc("i")
    %i1 = "tpu.Reshape"(%i) {shape = [64, 8, 64]} : (tensor<64x64x8xf16>) -> tensor<64x8x64xf16> loc("i1")
    %i2 = "tpu.Slice"(%i1, %none, %none, %none, %none) {offset = [0, 0, 0], ends = [64, 2, 64], steps = [1, 1, 1]} : (tensor<64x8x64xf16>, none, none, none, none) -> tensor<64x2x64xf16> loc("i2")

// Slices of one value: one sweep, and views of what it makes.
// CHECK: [[S:%[0-9]+]] = "tpu.Rearrange"(%arg1) {boxes = [0, 0, 0, 3, 2, 8192, 16, 512, 16, 512, 16, 1, 1]} {{.*}} -> tensor<2x1x512x1x16xf16>
// CHECK-NEXT: "tpu.Slice"([[S]],{{.*}} offset = [0, 0, 0, 0, 0]
// CHECK: "tpu.Slice"([[S]],{{.*}} offset = [1, 0, 0, 0, 0]
// PLACES: "tpu.Rearrange"{{.*}} -> tensor<2x1x512x1x16xf16, [[S:[0-9]+]] : i64>
// PLACES-NEXT: "tpu.Slice"{{.*}} -> tensor<1x1x512x1x16xf16, [[S]] : i64>
// PLACES-NEXT: "tpu.Reshape"{{.*}} -> tensor<1x512x1x16xf16, [[S]] : i64>
    %s = "tpu.Slice"(%y, %none, %none, %none, %none) {offset = [0, 0, 0, 0], ends = [1, 512, 1, 16], steps = [1, 1, 1, 1]} : (tensor<1x512x32x16xf16>, none, none, none, none) -> tensor<1x512x1x16xf16> loc("s")
    %t = "tpu.Slice"(%y, %none, %none, %none, %none) {offset = [0, 0, 1, 0], ends = [1, 512, 2, 16], steps = [1, 1, 1, 1]} : (tensor<1x512x32x16xf16>, none, none, none, none) -> tensor<1x512x1x16xf16> loc("t")
    %u = "tpu.Add"(%s, %t) : (tensor<1x512x1x16xf16>, tensor<1x512x1x16xf16>) -> tensor<1x512x1x16xf16> loc("u")
    %u1 = "tpu.Reshape"(%u) {shape = [1, 512, 16]} : (tensor<1x512x1x16xf16>) -> tensor<1x512x16xf16> loc("u1")

// A border goes along; one of another number does not.
// CHECK: "tpu.Rearrange"({{.*}}border = 0.000000e+00 : f64{{.*}} -> tensor<1x36x66x66xf16>
// CHECK: "tpu.Rearrange"({{.*}}border = 1.000000e+00 : f64{{.*}} -> tensor<10x8xf16>
// CHECK-NEXT: "tpu.Pad"
    %v = "tpu.Depth2Space"(%x) {block_h = 2 : i64, block_w = 2 : i64, in_is_NCHW = true, is_CRD = true, is_inversed = false, out_is_NCHW = true, swap_cr = false} : (tensor<1x144x32x32xf16>) -> tensor<1x36x64x64xf16> loc("v")
    %w = "tpu.Pad"(%v, %none, %none, %none, %none) {paddings = [0, 0, 1, 1, 0, 0, 1, 1], mode = #tpu<Pad_Mode constant>, val = 0.0 : f64} : (tensor<1x36x64x64xf16>, none, none, none, none) -> tensor<1x36x66x66xf16> loc("w")
    %z = "tpu.Slice"(%y, %none, %none, %none, %none) {offset = [0, 0, 0, 0], ends = [1, 6, 1, 8], steps = [1, 1, 1, 1]} : (tensor<1x512x32x16xf16>, none, none, none, none) -> tensor<1x6x1x8xf16> loc("z")
    %z1 = "tpu.Reshape"(%z) {shape = [6, 8]} : (tensor<1x6x1x8xf16>) -> tensor<6x8xf16> loc("z1")
    %z2 = "tpu.Pad"(%z1, %none, %none, %none, %none) {paddings = [2, 0, 2, 0], mode = #tpu<Pad_Mode constant>, val = 1.0 : f64} : (tensor<6x8xf16>, none, none, none, none) -> tensor<10x8xf16> loc("z2")
    %z3 = "tpu.Pad"(%z2, %none, %none, %none, %none) {paddings = [1, 1, 1, 1], mode = #tpu<Pad_Mode constant>, val = 2.0 : f64} : (tensor<10x8xf16>, none, none, none, none) -> tensor<12x10xf16> loc("z3")
    return %d, %h, %h, %i2, %u1, %w, %z3 : tensor<1x4x256x144xf16>, tensor<8x64x64xf16>, tensor<8x64x64xf16>, tensor<64x2x64xf16>, tensor<1x512x16xf16>, tensor<1x36x66x66xf16>, tensor<12x10xf16>
  }
}
