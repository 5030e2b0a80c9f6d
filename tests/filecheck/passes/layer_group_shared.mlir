// RUN: tpu-opt %s --split-input-file --subnet-divide --layer-group=shortfall=false | filecheck %s

// Ops that read one weight, and what else there is to hold until they do.

// Two inputs through the same layers: one load of each weight serves both.
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x64x993xf16>, %arg1: tensor<1x64x993xf16>) -> (tensor<1x64x993xf16>, tensor<1x64x993xf16>) {
    %one = "top.Input"(%arg0) : (tensor<1x64x993xf16>) -> tensor<1x64x993xf16> loc("one")
    %two = "top.Input"(%arg1) : (tensor<1x64x993xf16>) -> tensor<1x64x993xf16> loc("two")
    %none = "top.None"() : () -> none
    %w = "top.Weight"() : () -> tensor<1x993x993xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<1x993x993xf16> loc("v")
    %u = "top.Weight"() : () -> tensor<1x993x993xf16> loc("u")
    %a = "tpu.MatMul"(%one, %w, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("a")
    %b = "tpu.MatMul"(%a, %v, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("b")
    %c = "tpu.MatMul"(%b, %u, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("c")
    %d = "tpu.MatMul"(%two, %w, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("d")
    %e = "tpu.MatMul"(%d, %v, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("e")
    %f = "tpu.MatMul"(%e, %u, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("f")
    return %c, %f : tensor<1x64x993xf16>, tensor<1x64x993xf16>
  }
}

// CHECK: func.func @subfunc_0
// CHECK: "tpu.MatMul"{{.*}} loc("a")
// CHECK: "tpu.MatMul"{{.*}} loc("d")
// CHECK: "tpu.MatMul"{{.*}} loc("b")
// CHECK: "tpu.MatMul"{{.*}} loc("e")
// CHECK: "tpu.MatMul"{{.*}} loc("c")
// CHECK: "tpu.MatMul"{{.*}} loc("f")

// -----

// What reads the weight again needs what read it first.
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x64x993xf16>, %arg1: tensor<1x64x993xf16>) -> (tensor<1x64x993xf16>) {
    %one = "top.Input"(%arg0) : (tensor<1x64x993xf16>) -> tensor<1x64x993xf16> loc("one")
    %two = "top.Input"(%arg1) : (tensor<1x64x993xf16>) -> tensor<1x64x993xf16> loc("two")
    %none = "top.None"() : () -> none
    %w = "top.Weight"() : () -> tensor<1x993x993xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<1x993x993xf16> loc("v")
    %u = "top.Weight"() : () -> tensor<1x993x993xf16> loc("u")
    %a = "tpu.MatMul"(%one, %w, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("a")
    %b = "tpu.MatMul"(%a, %v, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("b")
    %c = "tpu.MatMul"(%b, %u, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("c")
    %d = "tpu.MatMul"(%c, %w, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("d")
    %e = "tpu.MatMul"(%d, %v, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("e")
    %f = "tpu.MatMul"(%e, %u, %none, %none, %none) : (tensor<1x64x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x64x993xf16> loc("f")
    return %f : tensor<1x64x993xf16>
  }
}

// CHECK: func.func @subfunc_0
// CHECK: "tpu.MatMul"{{.*}} loc("a")
// CHECK: "tpu.MatMul"{{.*}} loc("b")
// CHECK: "tpu.MatMul"{{.*}} loc("c")
// CHECK: "tpu.MatMul"{{.*}} loc("d")
// CHECK: "tpu.MatMul"{{.*}} loc("e")
// CHECK: "tpu.MatMul"{{.*}} loc("f")

// -----

// Between the two no more than a quarter of local memory is filled: `w` is still there.
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x64x992xf16>, %arg1: tensor<1x64x992xf16>) -> (tensor<1x64x992xf16>, tensor<1x64x992xf16>) {
    %one = "top.Input"(%arg0) : (tensor<1x64x992xf16>) -> tensor<1x64x992xf16> loc("one")
    %two = "top.Input"(%arg1) : (tensor<1x64x992xf16>) -> tensor<1x64x992xf16> loc("two")
    %none = "top.None"() : () -> none
    %w = "top.Weight"() : () -> tensor<1x992x992xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<1x992x992xf16> loc("v")
    %u = "top.Weight"() : () -> tensor<1x992x992xf16> loc("u")
    %a = "tpu.MatMul"(%one, %w, %none, %none, %none) : (tensor<1x64x992xf16>, tensor<1x992x992xf16>, none, none, none) -> tensor<1x64x992xf16> loc("a")
    %b = "tpu.MatMul"(%a, %v, %none, %none, %none) : (tensor<1x64x992xf16>, tensor<1x992x992xf16>, none, none, none) -> tensor<1x64x992xf16> loc("b")
    %c = "tpu.MatMul"(%b, %u, %none, %none, %none) : (tensor<1x64x992xf16>, tensor<1x992x992xf16>, none, none, none) -> tensor<1x64x992xf16> loc("c")
    %d = "tpu.MatMul"(%two, %w, %none, %none, %none) : (tensor<1x64x992xf16>, tensor<1x992x992xf16>, none, none, none) -> tensor<1x64x992xf16> loc("d")
    %e = "tpu.MatMul"(%d, %v, %none, %none, %none) : (tensor<1x64x992xf16>, tensor<1x992x992xf16>, none, none, none) -> tensor<1x64x992xf16> loc("e")
    %f = "tpu.MatMul"(%e, %u, %none, %none, %none) : (tensor<1x64x992xf16>, tensor<1x992x992xf16>, none, none, none) -> tensor<1x64x992xf16> loc("f")
    return %c, %f : tensor<1x64x992xf16>, tensor<1x64x992xf16>
  }
}

// CHECK: func.func @subfunc_0
// CHECK: "tpu.MatMul"{{.*}} loc("a")
// CHECK: "tpu.MatMul"{{.*}} loc("b")
// CHECK: "tpu.MatMul"{{.*}} loc("c")
// CHECK: "tpu.MatMul"{{.*}} loc("d")
// CHECK: "tpu.MatMul"{{.*}} loc("e")
// CHECK: "tpu.MatMul"{{.*}} loc("f")

// -----

// What comes together must not take more than half of local memory.
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x1057x993xf16>, %arg1: tensor<1x1057x993xf16>) -> (tensor<1x1057x993xf16>, tensor<1x1057x993xf16>) {
    %one = "top.Input"(%arg0) : (tensor<1x1057x993xf16>) -> tensor<1x1057x993xf16> loc("one")
    %two = "top.Input"(%arg1) : (tensor<1x1057x993xf16>) -> tensor<1x1057x993xf16> loc("two")
    %none = "top.None"() : () -> none
    %w = "top.Weight"() : () -> tensor<1x993x993xf16> loc("w")
    %v = "top.Weight"() : () -> tensor<1x993x993xf16> loc("v")
    %u = "top.Weight"() : () -> tensor<1x993x993xf16> loc("u")
    %a = "tpu.MatMul"(%one, %w, %none, %none, %none) : (tensor<1x1057x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x1057x993xf16> loc("a")
    %b = "tpu.MatMul"(%a, %v, %none, %none, %none) : (tensor<1x1057x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x1057x993xf16> loc("b")
    %c = "tpu.MatMul"(%b, %u, %none, %none, %none) : (tensor<1x1057x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x1057x993xf16> loc("c")
    %d = "tpu.MatMul"(%two, %w, %none, %none, %none) : (tensor<1x1057x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x1057x993xf16> loc("d")
    %e = "tpu.MatMul"(%d, %v, %none, %none, %none) : (tensor<1x1057x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x1057x993xf16> loc("e")
    %f = "tpu.MatMul"(%e, %u, %none, %none, %none) : (tensor<1x1057x993xf16>, tensor<1x993x993xf16>, none, none, none) -> tensor<1x1057x993xf16> loc("f")
    return %c, %f : tensor<1x1057x993xf16>, tensor<1x1057x993xf16>
  }
}

// CHECK: func.func @subfunc_0
// CHECK: "tpu.MatMul"{{.*}} loc("a")
// CHECK: "tpu.MatMul"{{.*}} loc("b")
// CHECK: "tpu.MatMul"{{.*}} loc("c")
// CHECK: "tpu.MatMul"{{.*}} loc("d")
// CHECK: "tpu.MatMul"{{.*}} loc("e")
// CHECK: "tpu.MatMul"{{.*}} loc("f")
