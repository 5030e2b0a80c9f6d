// RUN: tpu-opt %s --split-input-file --op-reorder --no-locations | filecheck %s

// Changes of shape that have no local form, among ops that have one.

// Both views go in front of what makes the large tensor: no group ends behind it any more.
func.func @gathered(%x: tensor<1x2x4xf16>, %y: tensor<1x8x2x4xf16>) -> tensor<1x8x2x4xf16> {
  %none = "top.None"() : () -> none
  %b = "tpu.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<1x2x4xf16>) -> tensor<1x2x4xf16> loc("b")
  %c = "tpu.MulConst"(%x) {const_val = 3.0 : f64} : (tensor<1x2x4xf16>) -> tensor<1x2x4xf16> loc("c")
  %h = "tpu.MulConst"(%y) {const_val = 4.0 : f64} : (tensor<1x8x2x4xf16>) -> tensor<1x8x2x4xf16> loc("h")
  %br = "tpu.Reshape"(%b) : (tensor<1x2x4xf16>) -> tensor<1x1x2x4xf16> loc("br")
  %hb = "tpu.Mul"(%h, %br) : (tensor<1x8x2x4xf16>, tensor<1x1x2x4xf16>) -> tensor<1x8x2x4xf16> loc("hb")
  %cr = "tpu.Unsqueeze"(%c) {axes = [1]} : (tensor<1x2x4xf16>) -> tensor<1x1x2x4xf16> loc("cr")
  %hc = "tpu.Mul"(%hb, %cr) : (tensor<1x8x2x4xf16>, tensor<1x1x2x4xf16>) -> tensor<1x8x2x4xf16> loc("hc")
  return %hc : tensor<1x8x2x4xf16>
}

// CHECK-LABEL: func.func @gathered
// CHECK: [[B:%.*]] = "tpu.MulConst"({{.*}}const_val = 2.0
// CHECK-NEXT: [[C:%.*]] = "tpu.MulConst"({{.*}}const_val = 3.0
// CHECK-NEXT: [[BR:%.*]] = "tpu.Reshape"([[B]])
// CHECK-NEXT: [[CR:%.*]] = "tpu.Unsqueeze"([[C]])
// CHECK-NEXT: [[H:%.*]] = "tpu.MulConst"({{.*}}const_val = 4.0
// CHECK-NEXT: [[HB:%.*]] = "tpu.Mul"([[H]], [[BR]])
// CHECK-NEXT: "tpu.Mul"([[HB]], [[CR]])

// -----

// Where an op without a local form parts the others anyhow, a view goes there.
func.func @to_a_wall(%x: tensor<1x2x4xf16>, %y: tensor<1x8x2x4xf16>) -> tensor<1x2x8x4xf16> {
  %none = "top.None"() : () -> none
  %b = "tpu.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<1x2x4xf16>) -> tensor<1x2x4xf16> loc("b")
  %p = "tpu.Permute"(%y, %none) {order = [0, 2, 1, 3]} : (tensor<1x8x2x4xf16>, none) -> tensor<1x2x8x4xf16> loc("p")
  %h = "tpu.MulConst"(%p) {const_val = 4.0 : f64} : (tensor<1x2x8x4xf16>) -> tensor<1x2x8x4xf16> loc("h")
  %br = "tpu.Reshape"(%b) : (tensor<1x2x4xf16>) -> tensor<1x8xf16> loc("br")
  %bs = "tpu.Reshape"(%br) : (tensor<1x8xf16>) -> tensor<1x1x8x1xf16> loc("bs")
  %hb = "tpu.Mul"(%h, %bs) : (tensor<1x2x8x4xf16>, tensor<1x1x8x1xf16>) -> tensor<1x2x8x4xf16> loc("hb")
  return %hb : tensor<1x2x8x4xf16>
}

// CHECK-LABEL: func.func @to_a_wall
// CHECK: "tpu.Permute"
// CHECK-NEXT: "tpu.Reshape"{{.*}} -> tensor<1x8xf16>
// CHECK-NEXT: {{.*}}tensor<1x1x8x1xf16>
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 4.0
// CHECK-NEXT: "tpu.Mul"

// -----

// A view without a local form that is returned stays; one with it goes to what makes its operand,
// and what reads that in front of the other view, behind which it would be loaded.
func.func @stays(%x: tensor<1x2x4xf16>) -> (tensor<1x2x2x2xf16>, tensor<1x8xf16>) {
  %b = "tpu.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<1x2x4xf16>) -> tensor<1x2x4xf16> loc("b")
  %h = "tpu.MulConst"(%x) {const_val = 4.0 : f64} : (tensor<1x2x4xf16>) -> tensor<1x2x4xf16> loc("h")
  %br = "tpu.Reshape"(%b) : (tensor<1x2x4xf16>) -> tensor<1x2x2x2xf16> loc("br")
  %r = "tpu.Reshape"(%h) : (tensor<1x2x4xf16>) -> tensor<1x8xf16> loc("r")
  %c = "tpu.MulConst"(%br) {const_val = 3.0 : f64} : (tensor<1x2x2x2xf16>) -> tensor<1x2x2x2xf16> loc("c")
  return %c, %r : tensor<1x2x2x2xf16>, tensor<1x8xf16>
}

// CHECK-LABEL: func.func @stays
// CHECK: "tpu.MulConst"({{.*}}const_val = 2.0
// CHECK-NEXT: "tpu.Reshape"{{.*}} -> tensor<1x2x2x2xf16>
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 4.0
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 3.0
// CHECK-NEXT: "tpu.Reshape"{{.*}} -> tensor<1x8xf16>

// -----

// What the second Gather needs does not come from the first: one place parts the others, not two.
func.func @joined(%x: tensor<4xf16>, %t: tensor<16x32xf16>) -> tensor<4x32xf16> {
  %none = "top.None"() : () -> none
  %b = "tpu.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<4xf16>) -> tensor<4xf16> loc("b")
  %g = "tpu.Gather"(%t, %b, %none) {axis = 0 : si32} : (tensor<16x32xf16>, tensor<4xf16>, none) -> tensor<4x32xf16> loc("g")
  %m = "tpu.MulConst"(%g) {const_val = 3.0 : f64} : (tensor<4x32xf16>) -> tensor<4x32xf16> loc("m")
  %c = "tpu.MulConst"(%x) {const_val = 4.0 : f64} : (tensor<4xf16>) -> tensor<4xf16> loc("c")
  %h = "tpu.Gather"(%t, %c, %none) {axis = 0 : si32} : (tensor<16x32xf16>, tensor<4xf16>, none) -> tensor<4x32xf16> loc("h")
  %s = "tpu.Add"(%m, %h) : (tensor<4x32xf16>, tensor<4x32xf16>) -> tensor<4x32xf16> loc("s")
  return %s : tensor<4x32xf16>
}

// CHECK-LABEL: func.func @joined
// CHECK: "tpu.MulConst"({{.*}}const_val = 2.0
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 4.0
// CHECK-NEXT: "tpu.Gather"
// CHECK-NEXT: "tpu.Gather"
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 3.0
// CHECK-NEXT: "tpu.Add"

// -----

// Here the second one reads what was made of the first.
func.func @bound(%x: tensor<4xf16>, %t: tensor<16x4xf16>) -> tensor<4x4xf16> {
  %none = "top.None"() : () -> none
  %b = "tpu.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<4xf16>) -> tensor<4xf16> loc("b")
  %g = "tpu.Gather"(%t, %b, %none) {axis = 0 : si32} : (tensor<16x4xf16>, tensor<4xf16>, none) -> tensor<4x4xf16> loc("g")
  %m = "tpu.MulConst"(%g) {const_val = 3.0 : f64} : (tensor<4x4xf16>) -> tensor<4x4xf16> loc("m")
  %h = "tpu.Gather"(%m, %b, %none) {axis = 0 : si32} : (tensor<4x4xf16>, tensor<4xf16>, none) -> tensor<4x4xf16> loc("h")
  %s = "tpu.Add"(%m, %h) : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16> loc("s")
  return %s : tensor<4x4xf16>
}

// CHECK-LABEL: func.func @bound
// CHECK: "tpu.MulConst"({{.*}}const_val = 2.0
// CHECK-NEXT: "tpu.Gather"
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 3.0
// CHECK-NEXT: "tpu.Gather"
// CHECK-NEXT: "tpu.Add"

// -----

// The second table is made of what the first run has on the chip: it is not loaded again for that.
func.func @sent_back(%x: tensor<16x32xf16>, %i: tensor<4xf16>, %n: tensor<16xf16>) -> (tensor<16x32xf16>, tensor<4x32xf16>) {
  %none = "top.None"() : () -> none
  %e = "tpu.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<16x32xf16>) -> tensor<16x32xf16> loc("e")
  %t = "tpu.MulConst"(%e) {const_val = 3.0 : f64} : (tensor<16x32xf16>) -> tensor<16x32xf16> loc("t")
  %g = "tpu.Gather"(%n, %i, %none) {axis = 0 : si32} : (tensor<16xf16>, tensor<4xf16>, none) -> tensor<4xf16> loc("g")
  %m = "tpu.MulConst"(%g) {const_val = 4.0 : f64} : (tensor<4xf16>) -> tensor<4xf16> loc("m")
  %u = "tpu.MulConst"(%e) {const_val = 5.0 : f64} : (tensor<16x32xf16>) -> tensor<16x32xf16> loc("u")
  %h = "tpu.Gather"(%u, %m, %none) {axis = 0 : si32} : (tensor<16x32xf16>, tensor<4xf16>, none) -> tensor<4x32xf16> loc("h")
  return %t, %h : tensor<16x32xf16>, tensor<4x32xf16>
}

// CHECK-LABEL: func.func @sent_back
// CHECK: [[E:%.*]] = "tpu.MulConst"({{.*}}const_val = 2.0
// CHECK-NEXT: "tpu.MulConst"([[E]]){{.*}}const_val = 3.0
// CHECK-NEXT: "tpu.MulConst"([[E]]){{.*}}const_val = 5.0
// CHECK-NEXT: "tpu.Gather"
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 4.0
// CHECK-NEXT: "tpu.Gather"

// -----

// What is read where it is made would be stored and loaded instead, as many bytes as `e` is: it stays.
func.func @kept(%x: tensor<16x32xf16>, %i: tensor<16xf16>) -> tensor<16x32xf16> {
  %none = "top.None"() : () -> none
  %e = "tpu.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<16x32xf16>) -> tensor<16x32xf16> loc("e")
  %t = "tpu.MulConst"(%e) {const_val = 3.0 : f64} : (tensor<16x32xf16>) -> tensor<16x32xf16> loc("t")
  %g = "tpu.Gather"(%t, %i, %none) {axis = 0 : si32} : (tensor<16x32xf16>, tensor<16xf16>, none) -> tensor<16x32xf16> loc("g")
  %u = "tpu.MulConst"(%e) {const_val = 5.0 : f64} : (tensor<16x32xf16>) -> tensor<16x32xf16> loc("u")
  %s = "tpu.Add"(%g, %u) : (tensor<16x32xf16>, tensor<16x32xf16>) -> tensor<16x32xf16> loc("s")
  return %s : tensor<16x32xf16>
}

// CHECK-LABEL: func.func @kept
// CHECK: "tpu.MulConst"({{.*}}const_val = 2.0
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 3.0
// CHECK-NEXT: "tpu.Gather"
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 5.0
// CHECK-NEXT: "tpu.Add"

// -----

// What is made of inputs in small steps comes first, up to 16,384 bytes: here exactly so many.
func.func @masks(%x: tensor<1x64x1x512xf16>, %m: tensor<1x1x1x4096xf16>) -> (tensor<1x64x1x512xf16>, tensor<1x1x1x4096xf16>, tensor<1x64x1x512xf16>) {
  %b = "tpu.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<1x64x1x512xf16>) -> tensor<1x64x1x512xf16> loc("b")
  %n = "tpu.MulConst"(%m) {const_val = 3.0 : f64} : (tensor<1x1x1x4096xf16>) -> tensor<1x1x1x4096xf16> loc("n")
  %c = "tpu.MulConst"(%b) {const_val = 4.0 : f64} : (tensor<1x64x1x512xf16>) -> tensor<1x64x1x512xf16> loc("c")
  %o = "tpu.AddConst"(%n) {const_val = 5.0 : f64} : (tensor<1x1x1x4096xf16>) -> tensor<1x1x1x4096xf16> loc("o")
  %d = "tpu.AddConst"(%c) {const_val = 6.0 : f64} : (tensor<1x64x1x512xf16>) -> tensor<1x64x1x512xf16> loc("d")
  return %b, %o, %d : tensor<1x64x1x512xf16>, tensor<1x1x1x4096xf16>, tensor<1x64x1x512xf16>
}

// CHECK-LABEL: func.func @masks
// CHECK: [[N:%.*]] = "tpu.MulConst"({{.*}}const_val = 3.0
// CHECK-NEXT: "tpu.AddConst"([[N]]) {const_val = 5.0
// CHECK-NEXT: [[B:%.*]] = "tpu.MulConst"({{.*}}const_val = 2.0
// CHECK-NEXT: [[C:%.*]] = "tpu.MulConst"([[B]]) {const_val = 4.0
// CHECK-NEXT: "tpu.AddConst"([[C]]) {const_val = 6.0

// -----

// A step of more bytes stays where it is, and so does a small one behind a large one.
func.func @larger(%x: tensor<1x64x1x512xf16>, %m: tensor<1x1x1x4097xf16>) -> (tensor<1x64x1x512xf16>, tensor<1x1x1x4097xf16>, tensor<1x64x1x1xf16>) {
  %none = "top.None"() : () -> none
  %b = "tpu.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<1x64x1x512xf16>) -> tensor<1x64x1x512xf16> loc("b")
  %r = "tpu.Reduce"(%b, %none, %none) {axes = [3], keepdims = true, mode = "ReduceMax"} : (tensor<1x64x1x512xf16>, none, none) -> tensor<1x64x1x1xf16> loc("r")
  %n = "tpu.MulConst"(%m) {const_val = 3.0 : f64} : (tensor<1x1x1x4097xf16>) -> tensor<1x1x1x4097xf16> loc("n")
  %s = "tpu.AddConst"(%r) {const_val = 4.0 : f64} : (tensor<1x64x1x1xf16>) -> tensor<1x64x1x1xf16> loc("s")
  return %b, %n, %s : tensor<1x64x1x512xf16>, tensor<1x1x1x4097xf16>, tensor<1x64x1x1xf16>
}

// CHECK-LABEL: func.func @larger
// CHECK: "tpu.MulConst"({{.*}}const_val = 2.0
// CHECK-NEXT: "tpu.Reduce"
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 3.0
// CHECK-NEXT: "tpu.AddConst"({{.*}}const_val = 4.0

// -----

// Of two joins that prevent each other the one is done that saves more: what is made of the large
// Gather is read where it is made, though one place less would part the small values, too.
func.func @large_first(%t: tensor<64x512xf16>, %s: tensor<64xf16>, %i: tensor<32xf16>) -> (tensor<32xf16>, tensor<32x512xf16>) {
  %none = "top.None"() : () -> none
  %f = "tpu.MulConst"(%i) {const_val = 1.0 : f64} : (tensor<32xf16>) -> tensor<32xf16> loc("f")
  %g = "tpu.Gather"(%s, %i, %none) {axis = 0 : si32} : (tensor<64xf16>, tensor<32xf16>, none) -> tensor<32xf16> loc("g")
  %a = "tpu.MulConst"(%f) {const_val = 2.0 : f64} : (tensor<32xf16>) -> tensor<32xf16> loc("a")
  %h = "tpu.Gather"(%t, %a, %none) {axis = 0 : si32} : (tensor<64x512xf16>, tensor<32xf16>, none) -> tensor<32x512xf16> loc("h")
  %c = "tpu.MulConst"(%h) {const_val = 3.0 : f64} : (tensor<32x512xf16>) -> tensor<32x512xf16> loc("c")
  %k = "tpu.MulConst"(%g) {const_val = 4.0 : f64} : (tensor<32xf16>) -> tensor<32xf16> loc("k")
  %j = "tpu.Gather"(%t, %k, %none) {axis = 0 : si32} : (tensor<64x512xf16>, tensor<32xf16>, none) -> tensor<32x512xf16> loc("j")
  %y = "tpu.Add"(%c, %j) : (tensor<32x512xf16>, tensor<32x512xf16>) -> tensor<32x512xf16> loc("y")
  return %f, %y : tensor<32xf16>, tensor<32x512xf16>
}

// CHECK-LABEL: func.func @large_first
// CHECK: "tpu.Gather"{{.*}} -> tensor<32xf16>
// CHECK: "tpu.Gather"{{.*}} -> tensor<32x512xf16>
// CHECK-NEXT: "tpu.Gather"{{.*}} -> tensor<32x512xf16>
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 3.0
// CHECK-NEXT: "tpu.Add"

// -----

// A Permute goes to what makes its operand, if nothing else reads that.
func.func @moves(%x: tensor<1x64x512xf16>, %z: tensor<1x512x64xf16>) -> (tensor<1x512x64xf16>, tensor<1x512x64xf16>) {
  %none = "top.None"() : () -> none
  %v = "tpu.MulConst"(%x) {const_val = 2.0 : f64} : (tensor<1x64x512xf16>) -> tensor<1x64x512xf16> loc("v")
  %w = "tpu.MulConst"(%x) {const_val = 3.0 : f64} : (tensor<1x64x512xf16>) -> tensor<1x64x512xf16> loc("w")
  %b = "tpu.MulConst"(%z) {const_val = 4.0 : f64} : (tensor<1x512x64xf16>) -> tensor<1x512x64xf16> loc("b")
  %c = "tpu.Add"(%w, %v) : (tensor<1x64x512xf16>, tensor<1x64x512xf16>) -> tensor<1x64x512xf16> loc("c")
  %p = "tpu.Permute"(%v, %none) {order = [0, 2, 1]} : (tensor<1x64x512xf16>, none) -> tensor<1x512x64xf16> loc("p")
  %y = "tpu.Add"(%b, %p) : (tensor<1x512x64xf16>, tensor<1x512x64xf16>) -> tensor<1x512x64xf16> loc("y")
  %q = "tpu.Permute"(%c, %none) {order = [0, 2, 1]} : (tensor<1x64x512xf16>, none) -> tensor<1x512x64xf16> loc("q")
  %s = "tpu.Add"(%y, %q) : (tensor<1x512x64xf16>, tensor<1x512x64xf16>) -> tensor<1x512x64xf16> loc("s")
  return %y, %s : tensor<1x512x64xf16>, tensor<1x512x64xf16>
}

// CHECK-LABEL: func.func @moves
// CHECK: [[C:%.*]] = "tpu.Add"{{.*}} -> tensor<1x64x512xf16>
// CHECK-NEXT: [[Q:%.*]] = "tpu.Permute"([[C]],
// CHECK-NEXT: "tpu.Permute"(
// CHECK-NEXT: [[Y:%.*]] = "tpu.Add"{{.*}} -> tensor<1x512x64xf16>
// CHECK-NEXT: "tpu.Add"([[Y]], [[Q]])

// -----

// What local memory does not hold is made wider where it is read: 64 bytes more than a lane has.
func.func @large(%x: tensor<64x65552xf16>, %z: tensor<64x65552xf16>) -> (tensor<64x65552xf32>, tensor<64x65552xf16>) {
  %w = "tpu.Cast"(%x) : (tensor<64x65552xf16>) -> tensor<64x65552xf32> loc("w")
  %b = "tpu.MulConst"(%z) {const_val = 3.0 : f64} : (tensor<64x65552xf16>) -> tensor<64x65552xf16> loc("b")
  %y = "tpu.MulConst"(%w) {const_val = 4.0 : f64} : (tensor<64x65552xf32>) -> tensor<64x65552xf32> loc("y")
  return %y, %b : tensor<64x65552xf32>, tensor<64x65552xf16>
}

// CHECK-LABEL: func.func @large
// CHECK: "tpu.MulConst"({{.*}}const_val = 3.0
// CHECK-NEXT: "tpu.Cast"(
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 4.0

// -----

// Of a lane's 262,144 bytes it holds.
func.func @fits(%x: tensor<64x65536xf16>, %z: tensor<64x65536xf16>) -> (tensor<64x65536xf32>, tensor<64x65536xf16>) {
  %w = "tpu.Cast"(%x) : (tensor<64x65536xf16>) -> tensor<64x65536xf32> loc("w")
  %b = "tpu.MulConst"(%z) {const_val = 3.0 : f64} : (tensor<64x65536xf16>) -> tensor<64x65536xf16> loc("b")
  %y = "tpu.MulConst"(%w) {const_val = 4.0 : f64} : (tensor<64x65536xf32>) -> tensor<64x65536xf32> loc("y")
  return %y, %b : tensor<64x65536xf32>, tensor<64x65536xf16>
}

// CHECK-LABEL: func.func @fits
// CHECK: "tpu.Cast"(
// CHECK-NEXT: "tpu.MulConst"({{.*}}const_val = 3.0
