// RUN: tpu-opt %s --place-values="chip=bm1684x in_lanes=true" --no-locations | filecheck %s
// RUN: tpu-opt %s --place-values="chip=bm1684x" --no-locations | filecheck %s --check-prefix=DDR

// The rows of a head's product lie over the lanes, between images whose channels do: elements change
// lanes on both sides. Without `in_lanes` they go through DDR there.
// CHECK-LABEL: func.func @heads
// CHECK: "tpu.Reshape"({{.*}} : (tensor<1x1024x49xf16>) -> tensor<8x128x49xf16>
// CHECK: "tpu.MatMul"({{.*}} : (tensor<8x128x49xf16>, tensor<8x49x49xf16>, none, none, none) -> tensor<8x128x49xf16>
// CHECK-NEXT: "tpu.Reshape"({{.*}} : (tensor<8x128x49xf16>) -> tensor<1x1024x49xf16>
// CHECK-NEXT: "tpu.Reshape"({{.*}} : (tensor<1x1024x49xf16>) -> tensor<1x1024x7x7xf16>
// CHECK-NEXT: "tpu.Add"({{.*}} -> tensor<1x1024x7x7xf16>
// DDR-LABEL: func.func @heads
// DDR: "tpu.MatMul"({{.*}} -> tensor<1x8x128x49xf16>
func.func @heads(%x: tensor<1x64x7x7xf16>, %k: tensor<1x8x49x49xf16>) -> tensor<1x64x7x7xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<1024x64x1x1xf16> loc("filter")
  %v = "top.Weight"() : () -> tensor<64x1024x1x1xf16> loc("other_filter")
  %0 = "tpu.Conv2D"(%x, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<1x64x7x7xf16>, tensor<1024x64x1x1xf16>, none) -> tensor<1x1024x7x7xf16> loc("conv")
  %1 = "tpu.Reshape"(%0) {shape = [1, 8, 128, 49]} : (tensor<1x1024x7x7xf16>) -> tensor<1x8x128x49xf16> loc("heads")
  %2 = "tpu.MatMul"(%1, %k, %none, %none, %none) : (tensor<1x8x128x49xf16>, tensor<1x8x49x49xf16>, none, none, none) -> tensor<1x8x128x49xf16> loc("product")
  %3 = "tpu.Reshape"(%2) {shape = [1, 1024, 7, 7]} : (tensor<1x8x128x49xf16>) -> tensor<1x1024x7x7xf16> loc("image")
  %4 = "tpu.Add"(%3, %0) {do_relu = false} : (tensor<1x1024x7x7xf16>, tensor<1x1024x7x7xf16>) -> tensor<1x1024x7x7xf16> loc("sum")
  %5 = "tpu.Conv2D"(%4, %v, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<1x1024x7x7xf16>, tensor<64x1024x1x1xf16>, none) -> tensor<1x64x7x7xf16> loc("down")
  return %5 : tensor<1x64x7x7xf16>
}

// Channels that are no multiples of the lanes change them all the same: pixels lie there on the way.
// CHECK-LABEL: func.func @odd
// CHECK: "tpu.MatMul"({{.*}} -> tensor<8x123x47xf16>
// CHECK-NEXT: "tpu.Reshape"({{.*}} : (tensor<8x123x47xf16>) -> tensor<1x984x47xf16>
// DDR-LABEL: func.func @odd
// DDR: "tpu.MatMul"({{.*}} -> tensor<1x8x123x47xf16>
func.func @odd(%x: tensor<1x64x1x47xf16>, %k: tensor<1x8x47x47xf16>) -> tensor<1x64x1x47xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<984x64x1x1xf16> loc("filter")
  %v = "top.Weight"() : () -> tensor<64x984x1x1xf16> loc("other_filter")
  %0 = "tpu.Conv2D"(%x, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<1x64x1x47xf16>, tensor<984x64x1x1xf16>, none) -> tensor<1x984x1x47xf16> loc("conv")
  %1 = "tpu.Reshape"(%0) {shape = [1, 8, 123, 47]} : (tensor<1x984x1x47xf16>) -> tensor<1x8x123x47xf16> loc("heads")
  %2 = "tpu.MatMul"(%1, %k, %none, %none, %none) : (tensor<1x8x123x47xf16>, tensor<1x8x47x47xf16>, none, none, none) -> tensor<1x8x123x47xf16> loc("product")
  %3 = "tpu.Reshape"(%2) {shape = [1, 984, 1, 47]} : (tensor<1x8x123x47xf16>) -> tensor<1x984x1x47xf16> loc("image")
  %4 = "tpu.Add"(%3, %0) {do_relu = false} : (tensor<1x984x1x47xf16>, tensor<1x984x1x47xf16>) -> tensor<1x984x1x47xf16> loc("sum")
  %5 = "tpu.Conv2D"(%4, %v, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<1x984x1x47xf16>, tensor<64x984x1x1xf16>, none) -> tensor<1x64x1x47xf16> loc("down")
  return %5 : tensor<1x64x1x47xf16>
}

// Too large for local memory beside their copy.
// CHECK-LABEL: func.func @large
// CHECK: "tpu.MatMul"({{.*}} -> tensor<1x8x128x2304xf16>
// DDR-LABEL: func.func @large
// DDR: "tpu.MatMul"({{.*}} -> tensor<1x8x128x2304xf16>
func.func @large(%x: tensor<1x64x48x48xf16>, %k: tensor<1x8x2304x2304xf16>) -> tensor<1x64x48x48xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<1024x64x1x1xf16> loc("filter")
  %v = "top.Weight"() : () -> tensor<64x1024x1x1xf16> loc("other_filter")
  %0 = "tpu.Conv2D"(%x, %w, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<1x64x48x48xf16>, tensor<1024x64x1x1xf16>, none) -> tensor<1x1024x48x48xf16> loc("conv")
  %1 = "tpu.Reshape"(%0) {shape = [1, 8, 128, 2304]} : (tensor<1x1024x48x48xf16>) -> tensor<1x8x128x2304xf16> loc("heads")
  %2 = "tpu.MatMul"(%1, %k, %none, %none, %none) : (tensor<1x8x128x2304xf16>, tensor<1x8x2304x2304xf16>, none, none, none) -> tensor<1x8x128x2304xf16> loc("product")
  %3 = "tpu.Reshape"(%2) {shape = [1, 1024, 48, 48]} : (tensor<1x8x128x2304xf16>) -> tensor<1x1024x48x48xf16> loc("image")
  %4 = "tpu.Add"(%3, %0) {do_relu = false} : (tensor<1x1024x48x48xf16>, tensor<1x1024x48x48xf16>) -> tensor<1x1024x48x48xf16> loc("sum")
  %5 = "tpu.Conv2D"(%4, %v, %none) {kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0], with_bias = false} : (tensor<1x1024x48x48xf16>, tensor<64x1024x1x1xf16>, none) -> tensor<1x64x48x48xf16> loc("down")
  return %5 : tensor<1x64x48x48xf16>
}

// A matrix for each of 4 heads is written for each of 16 windows: the scores of products are 64 matrices, and stay so.
// CHECK-LABEL: func.func @windows
// CHECK: %[[BIAS:[0-9]+]] = "top.Weight"() : () -> tensor<64x49x49xf16>
// CHECK: "tpu.MatMul"({{.*}} -> tensor<64x49x49xf16>
// CHECK-NEXT: "tpu.Add"({{.*}}, %[[BIAS]]) {{.*}} -> tensor<64x49x49xf16>
// CHECK-NEXT: "tpu.Softmax"({{.*}} -> tensor<64x49x49xf16>
// CHECK: "tpu.MatMul"({{.*}} -> tensor<64x49x32xf16>
func.func @windows(%q: tensor<16x4x49x32xf16>, %k: tensor<16x4x32x49xf16>, %v: tensor<16x4x49x32xf16>) -> tensor<16x4x49x32xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<1x4x49x49xf16> loc("bias")
  %0 = "tpu.MatMul"(%q, %k, %none, %none, %none) : (tensor<16x4x49x32xf16>, tensor<16x4x32x49xf16>, none, none, none) -> tensor<16x4x49x49xf16> loc("scores")
  %1 = "tpu.Add"(%0, %w) {do_relu = false} : (tensor<16x4x49x49xf16>, tensor<1x4x49x49xf16>) -> tensor<16x4x49x49xf16> loc("sum")
  %2 = "tpu.Softmax"(%1, %none, %none, %none, %none, %none) {axis = 3 : si32} : (tensor<16x4x49x49xf16>, none, none, none, none, none) -> tensor<16x4x49x49xf16> loc("probable")
  %3 = "tpu.MatMul"(%2, %v, %none, %none, %none) : (tensor<16x4x49x49xf16>, tensor<16x4x49x32xf16>, none, none, none) -> tensor<16x4x49x32xf16> loc("mixed")
  return %3 : tensor<16x4x49x32xf16>
}

// A mask for each of 16 sequences is repeated for the heads of each.
// CHECK-LABEL: func.func @masks
// CHECK: %[[MASK:[0-9]+]] = "tpu.Tile"({{.*}}tile = [1, 4, 1, 1]{{.*}} -> tensor<16x4x1x49xf16>
// CHECK: %[[SEEN:[0-9]+]] = "tpu.Reshape"(%[[MASK]]) {{.*}} -> tensor<64x1x49xf16>
// CHECK: "tpu.Add"({{.*}}, %[[SEEN]]) {{.*}} -> tensor<64x49x49xf16>
func.func @masks(%q: tensor<16x4x49x32xf16>, %k: tensor<16x4x32x49xf16>, %m: tensor<16x1x1x49xf16>) -> tensor<16x4x49x49xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %0 = "tpu.MatMul"(%q, %k, %none, %none, %none) : (tensor<16x4x49x32xf16>, tensor<16x4x32x49xf16>, none, none, none) -> tensor<16x4x49x49xf16> loc("scores")
  %1 = "tpu.Add"(%0, %m) {do_relu = false} : (tensor<16x4x49x49xf16>, tensor<16x1x1x49xf16>) -> tensor<16x4x49x49xf16> loc("sum")
  %2 = "tpu.Softmax"(%1, %none, %none, %none, %none, %none) {axis = 3 : si32} : (tensor<16x4x49x49xf16>, none, none, none, none, none) -> tensor<16x4x49x49xf16> loc("probable")
  return %2 : tensor<16x4x49x49xf16>
}

// Matrices that are computed are not.
// CHECK-LABEL: func.func @matrices
// CHECK-NOT: "tpu.Tile"
func.func @matrices(%q: tensor<16x4x49x32xf16>, %k: tensor<16x4x32x49xf16>, %m: tensor<16x1x49x49xf16>) -> tensor<16x4x49x49xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %0 = "tpu.MatMul"(%q, %k, %none, %none, %none) : (tensor<16x4x49x32xf16>, tensor<16x4x32x49xf16>, none, none, none) -> tensor<16x4x49x49xf16> loc("scores")
  %1 = "tpu.Add"(%0, %m) {do_relu = false} : (tensor<16x4x49x49xf16>, tensor<16x1x49x49xf16>) -> tensor<16x4x49x49xf16> loc("sum")
  %2 = "tpu.Softmax"(%1, %none, %none, %none, %none, %none) {axis = 3 : si32} : (tensor<16x4x49x49xf16>, none, none, none, none, none) -> tensor<16x4x49x49xf16> loc("probable")
  return %2 : tensor<16x4x49x49xf16>
}

// A row that all rows have in common can be seen in any way: it lies there once.
// CHECK-LABEL: func.func @common
// CHECK: "top.Weight"() : () -> tensor<1x1x{{(1x)?}}49xf16>
func.func @common(%q: tensor<16x4x49x32xf16>, %k: tensor<16x4x32x49xf16>) -> tensor<16x4x49x49xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %w = "top.Weight"() : () -> tensor<1x1x1x49xf16> loc("row")
  %0 = "tpu.MatMul"(%q, %k, %none, %none, %none) : (tensor<16x4x49x32xf16>, tensor<16x4x32x49xf16>, none, none, none) -> tensor<16x4x49x49xf16> loc("scores")
  %1 = "tpu.Add"(%0, %w) {do_relu = false} : (tensor<16x4x49x49xf16>, tensor<1x1x1x49xf16>) -> tensor<16x4x49x49xf16> loc("sum")
  return %1 : tensor<16x4x49x49xf16>
}
