// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-tpu-optimize --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --processor-tpu-optimize="disable=SkewedRows" --no-locations | filecheck %s --check-prefix=OFF

// Four rows of seven distances: each begins one further to the left.
// CHECK-LABEL: module @distances
// CHECK: [[X:%[0-9]+]] = "top.Input"
// CHECK: [[I:%[0-9]+]] = "top.Weight"() : () -> tensor<1x8x4xui8>
// CHECK: "tpu.GatherElements"({{%[0-9]+}}, [[I]], {{.*}}) {axis = 2 : i64} : (tensor<1x8x7xf16>, tensor<1x8x4xui8>, none, none) -> tensor<1x8x4xf16>
// CHECK-NEXT: "tpu.Reshape"{{.*}} -> tensor<2x4x4xf16>
// CHECK-NOT: tpu.Slice
// OFF-LABEL: module @distances
// OFF-NOT: tpu.GatherElements
module @distances attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<2x4x7xf16>) -> tensor<2x4x4xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<2x4x7xf16>) -> tensor<2x4x7xf16> loc("x")
    %1 = "tpu.Pad"(%0, %n, %n, %n, %n) {paddings = [0, 0, 1, 0, 0, 0], mode = #tpu<Pad_Mode constant>} : (tensor<2x4x7xf16>, none, none, none, none) -> tensor<2x4x8xf16> loc("padded")
    %2 = "tpu.Reshape"(%1) : (tensor<2x4x8xf16>) -> tensor<2x8x4xf16> loc("down")
    %3 = "tpu.Slice"(%2, %n, %n, %n, %n) {offset = [0, 1, 0], steps = [1, 1, 1], ends = [2, 8, 4]} : (tensor<2x8x4xf16>, none, none, none, none) -> tensor<2x7x4xf16> loc("rest")
    %4 = "tpu.Reshape"(%3) : (tensor<2x7x4xf16>) -> tensor<2x4x7xf16> loc("rows")
    %5 = "tpu.Slice"(%4, %n, %n, %n, %n) {offset = [0, 0, 0], steps = [1, 1, 1], ends = [2, 4, 4]} : (tensor<2x4x7xf16>, none, none, none, none) -> tensor<2x4x4xf16> loc("y")
    return %5 : tensor<2x4x4xf16>
  }
}

// -----

// Without the row that goes, each row keeps its columns.
// CHECK-LABEL: module @columns
// CHECK-NOT: tpu.GatherElements
module @columns attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<2x4x7xf16>) -> tensor<1x8x4xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<2x4x7xf16>) -> tensor<2x4x7xf16> loc("x")
    %1 = "tpu.Reshape"(%0) : (tensor<2x4x7xf16>) -> tensor<1x8x7xf16> loc("rows")
    %2 = "tpu.Slice"(%1, %n, %n, %n, %n) {offset = [0, 0, 0], steps = [1, 1, 1], ends = [1, 8, 4]} : (tensor<1x8x7xf16>, none, none, none, none) -> tensor<1x8x4xf16> loc("y")
    return %2 : tensor<1x8x4xf16>
  }
}

// -----

// Two of eight elements are enough of a row.
// CHECK-LABEL: module @a_quarter
// CHECK: "tpu.GatherElements"{{.*}} -> tensor<1x4x2xf16>
module @a_quarter attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x4x8xf16>) -> tensor<1x4x2xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x4x8xf16>) -> tensor<1x4x8xf16> loc("x")
    %1 = "tpu.Reshape"(%0) : (tensor<1x4x8xf16>) -> tensor<1x32xf16> loc("line")
    %2 = "tpu.Slice"(%1, %n, %n, %n, %n) {offset = [0, 3], steps = [1, 1], ends = [1, 31]} : (tensor<1x32xf16>, none, none, none, none) -> tensor<1x28xf16> loc("rest")
    %3 = "tpu.Reshape"(%2) : (tensor<1x28xf16>) -> tensor<1x4x7xf16> loc("rows")
    %4 = "tpu.Slice"(%3, %n, %n, %n, %n) {offset = [0, 0, 0], steps = [1, 1, 1], ends = [1, 4, 2]} : (tensor<1x4x7xf16>, none, none, none, none) -> tensor<1x4x2xf16> loc("y")
    return %4 : tensor<1x4x2xf16>
  }
}

// -----

// Two of nine are not.
// CHECK-LABEL: module @less
// CHECK-NOT: tpu.GatherElements
module @less attributes {module.state = "TPU_LOWERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x4x9xf16>) -> tensor<1x4x2xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x4x9xf16>) -> tensor<1x4x9xf16> loc("x")
    %1 = "tpu.Reshape"(%0) : (tensor<1x4x9xf16>) -> tensor<1x36xf16> loc("line")
    %2 = "tpu.Slice"(%1, %n, %n, %n, %n) {offset = [0, 3], steps = [1, 1], ends = [1, 35]} : (tensor<1x36xf16>, none, none, none, none) -> tensor<1x32xf16> loc("rest")
    %3 = "tpu.Reshape"(%2) : (tensor<1x32xf16>) -> tensor<1x4x8xf16> loc("rows")
    %4 = "tpu.Slice"(%3, %n, %n, %n, %n) {offset = [0, 0, 0], steps = [1, 1, 1], ends = [1, 4, 2]} : (tensor<1x4x8xf16>, none, none, none, none) -> tensor<1x4x2xf16> loc("y")
    return %4 : tensor<1x4x2xf16>
  }
}
