// RUN: tpu-opt %s --subnet-divide --layer-group="opt=1" --verify-layer-groups | filecheck %s
// RUN: tpu-opt %s --subnet-divide --layer-group="opt=1 keep_global=tpu.Squeeze explain=true" -o %t.out 2>%t && filecheck %s --check-prefix=SQUEEZE --input-file %t
// RUN: tpu-opt %s --subnet-divide --layer-group="opt=1 split_weights=false explain=true" -o %t.out 2>%t && filecheck %s --check-prefix=WHOLE --input-file %t

// A part of dimension 2 is cut out, the dimension goes, a weight of the shape is added: one group.
// CHECK: allow_split = [1, 1, 1, 1]
// CHECK: "tpu.Group"(%arg0) ({
// CHECK: "tpu.Slice"
// CHECK-NEXT: "tpu.Squeeze"
// CHECK-NEXT: "tpu.Add"
// CHECK-NEXT: "tpu.Softmax"
// SQUEEZE: 'q' (tpu.Squeeze) | group of 2 ops 'y' .. 'p': no local form: tpu.Squeeze is kept global by option
// WHOLE: group of 2 ops 's' .. 'q' | 'y' (tpu.Add): no local form: its weight would be cut with its result; split_weights=false forbids that
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<4x49x3x2x32xf16>) -> tensor<4x49x2x32xf16> {
    %n = "top.None"() : () -> none
    %w = "top.Weight"() : () -> tensor<4x49x2x32xf16> loc("w")
    %0 = "top.Input"(%arg0) : (tensor<4x49x3x2x32xf16>) -> tensor<4x49x3x2x32xf16> loc("x")
    %1 = "tpu.Slice"(%0, %n, %n, %n, %n) {offset = [0, 0, 1, 0, 0], steps = [1, 1, 1, 1, 1], ends = [4, 49, 2, 2, 32]} : (tensor<4x49x3x2x32xf16>, none, none, none, none) -> tensor<4x49x1x2x32xf16> loc("s")
    %2 = "tpu.Squeeze"(%1) {axes = [2]} : (tensor<4x49x1x2x32xf16>) -> tensor<4x49x2x32xf16> loc("q")
    %3 = "tpu.Add"(%2, %w) : (tensor<4x49x2x32xf16>, tensor<4x49x2x32xf16>) -> tensor<4x49x2x32xf16> loc("y")
    %4 = "tpu.Softmax"(%3, %n, %n, %n, %n, %n) {axis = 3 : si32} : (tensor<4x49x2x32xf16>, none, none, none, none, none) -> tensor<4x49x2x32xf16> loc("p")
    return %4 : tensor<4x49x2x32xf16>
  }
}
