// RUN: tpu-opt %s --split-input-file --op-reorder=measure=false | filecheck %s

// Ops that read one weight, and what else there is to hold until they do.

// Two inputs through the same layers: one load of each weight serves both.
func.func @gathered(%one: tensor<1x512xf16>, %two: tensor<1x512xf16>) -> (tensor<1x512xf16>, tensor<1x512xf16>) {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<512x4089xf16> loc("w")
  %v = "top.Weight"() : () -> tensor<4089x512xf16> loc("v")
  %a = "tpu.MatMul"(%one, %w, %none, %none, %none) : (tensor<1x512xf16>, tensor<512x4089xf16>, none, none, none) -> tensor<1x4089xf16> loc("a")
  %b = "tpu.MatMul"(%a, %v, %none, %none, %none) : (tensor<1x4089xf16>, tensor<4089x512xf16>, none, none, none) -> tensor<1x512xf16> loc("b")
  %c = "tpu.MatMul"(%two, %w, %none, %none, %none) : (tensor<1x512xf16>, tensor<512x4089xf16>, none, none, none) -> tensor<1x4089xf16> loc("c")
  %d = "tpu.MatMul"(%c, %v, %none, %none, %none) : (tensor<1x4089xf16>, tensor<4089x512xf16>, none, none, none) -> tensor<1x512xf16> loc("d")
  return %b, %d : tensor<1x512xf16>, tensor<1x512xf16>
}

// CHECK-LABEL: func.func @gathered
// CHECK: "tpu.MatMul"{{.*}} loc("a")
// CHECK: "tpu.MatMul"{{.*}} loc("c")
// CHECK: "tpu.MatMul"{{.*}} loc("b")
// CHECK: "tpu.MatMul"{{.*}} loc("d")

// -----

// What reads the weight again needs what read it first.
func.func @in_turn(%one: tensor<1x512xf16>, %two: tensor<1x512xf16>) -> (tensor<1x512xf16>, tensor<1x512xf16>) {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<512x4089xf16> loc("w")
  %v = "top.Weight"() : () -> tensor<4089x512xf16> loc("v")
  %a = "tpu.MatMul"(%one, %w, %none, %none, %none) : (tensor<1x512xf16>, tensor<512x4089xf16>, none, none, none) -> tensor<1x4089xf16> loc("a")
  %b = "tpu.MatMul"(%a, %v, %none, %none, %none) : (tensor<1x4089xf16>, tensor<4089x512xf16>, none, none, none) -> tensor<1x512xf16> loc("b")
  %c = "tpu.MatMul"(%b, %w, %none, %none, %none) : (tensor<1x512xf16>, tensor<512x4089xf16>, none, none, none) -> tensor<1x4089xf16> loc("c")
  %d = "tpu.MatMul"(%c, %v, %none, %none, %none) : (tensor<1x4089xf16>, tensor<4089x512xf16>, none, none, none) -> tensor<1x512xf16> loc("d")
  return %b, %d : tensor<1x512xf16>, tensor<1x512xf16>
}

// CHECK-LABEL: func.func @in_turn
// CHECK: "tpu.MatMul"{{.*}} loc("a")
// CHECK: "tpu.MatMul"{{.*}} loc("b")
// CHECK: "tpu.MatMul"{{.*}} loc("c")
// CHECK: "tpu.MatMul"{{.*}} loc("d")

// -----

// Between the two no more than a quarter of local memory is filled: `w` is still there.
func.func @held(%one: tensor<1x512xf16>, %two: tensor<1x512xf16>) -> (tensor<1x512xf16>, tensor<1x512xf16>) {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<512x4088xf16> loc("w")
  %v = "top.Weight"() : () -> tensor<4088x512xf16> loc("v")
  %a = "tpu.MatMul"(%one, %w, %none, %none, %none) : (tensor<1x512xf16>, tensor<512x4088xf16>, none, none, none) -> tensor<1x4088xf16> loc("a")
  %b = "tpu.MatMul"(%a, %v, %none, %none, %none) : (tensor<1x4088xf16>, tensor<4088x512xf16>, none, none, none) -> tensor<1x512xf16> loc("b")
  %c = "tpu.MatMul"(%two, %w, %none, %none, %none) : (tensor<1x512xf16>, tensor<512x4088xf16>, none, none, none) -> tensor<1x4088xf16> loc("c")
  %d = "tpu.MatMul"(%c, %v, %none, %none, %none) : (tensor<1x4088xf16>, tensor<4088x512xf16>, none, none, none) -> tensor<1x512xf16> loc("d")
  return %b, %d : tensor<1x512xf16>, tensor<1x512xf16>
}

// CHECK-LABEL: func.func @held
// CHECK: "tpu.MatMul"{{.*}} loc("a")
// CHECK: "tpu.MatMul"{{.*}} loc("b")
// CHECK: "tpu.MatMul"{{.*}} loc("c")
// CHECK: "tpu.MatMul"{{.*}} loc("d")

// -----

// What comes together must not take more than half of local memory.
func.func @large(%one: tensor<512x512xf16>, %two: tensor<512x512xf16>) -> (tensor<512x512xf16>, tensor<512x512xf16>) {
  %none = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<512x4089xf16> loc("w")
  %v = "top.Weight"() : () -> tensor<4089x512xf16> loc("v")
  %a = "tpu.MatMul"(%one, %w, %none, %none, %none) : (tensor<512x512xf16>, tensor<512x4089xf16>, none, none, none) -> tensor<512x4089xf16> loc("a")
  %b = "tpu.MatMul"(%a, %v, %none, %none, %none) : (tensor<512x4089xf16>, tensor<4089x512xf16>, none, none, none) -> tensor<512x512xf16> loc("b")
  %c = "tpu.MatMul"(%two, %w, %none, %none, %none) : (tensor<512x512xf16>, tensor<512x4089xf16>, none, none, none) -> tensor<512x4089xf16> loc("c")
  %d = "tpu.MatMul"(%c, %v, %none, %none, %none) : (tensor<512x4089xf16>, tensor<4089x512xf16>, none, none, none) -> tensor<512x512xf16> loc("d")
  return %b, %d : tensor<512x512xf16>, tensor<512x512xf16>
}

// CHECK-LABEL: func.func @large
// CHECK: "tpu.MatMul"{{.*}} loc("a")
// CHECK: "tpu.MatMul"{{.*}} loc("b")
// CHECK: "tpu.MatMul"{{.*}} loc("c")
// CHECK: "tpu.MatMul"{{.*}} loc("d")
