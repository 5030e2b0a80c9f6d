// RUN: tpu-opt %s --split-input-file --shape-infer --scale-early --no-locations | filecheck %s

// Queries times keys that are added up divide: what queries are multiplied with is made smaller, by
// 2^-5 for 32 keys, and so is the number that is added.
// CHECK-LABEL: func.func @linear_attention
// CHECK: [[K:%.*]] = "top.Reduce"
// CHECK-NEXT: [[KS:%.*]] = "top.MulConst"([[K]]) {const_val = 3.125000e-02 : f64
// CHECK-NEXT: [[B:%.*]] = "top.MatMul"([[Q:%.*]], [[KS]],
// CHECK-NEXT: [[C:%.*]] = "top.AddConst"([[B]]) {const_val = 3.125000e-02 : f64
// CHECK-NEXT: [[V:%.*]] = "top.MatMul"
// CHECK-NEXT: [[VS:%.*]] = "top.MulConst"([[V]]) {const_val = 3.125000e-02 : f64
// CHECK-NEXT: [[A:%.*]] = "top.MatMul"([[Q]], [[VS]],
// CHECK-NEXT: "top.Div"([[A]], [[C]])
func.func @linear_attention(%arg_q: tensor<2x8x4xf32>, %arg_k: tensor<2x4x32xf32>, %arg_v: tensor<2x32x4xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<2x4x32xf32>) -> tensor<2x4x32xf32> loc("k")
  %v = "top.Input"(%arg_v) : (tensor<2x32x4xf32>) -> tensor<2x32x4xf32> loc("v")
  %s = "top.Reduce"(%k) {axes = [2], keepdims = true, mode = "ReduceSum"} : (tensor<2x4x32xf32>) -> tensor<*xf32> loc("s")
  %b = "top.MatMul"(%q, %s, %n) : (tensor<2x8x4xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("b")
  %c = "top.AddConst"(%b) {const_val = 1.0 : f64} : (tensor<*xf32>) -> tensor<*xf32> loc("c")
  %kv = "top.MatMul"(%k, %v, %n) : (tensor<2x4x32xf32>, tensor<2x32x4xf32>, none) -> tensor<*xf32> loc("kv")
  %a = "top.MatMul"(%q, %kv, %n) : (tensor<2x8x4xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("a")
  %y = "top.Div"(%a, %c) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// 31 keys are too few.
// CHECK-LABEL: func.func @few_keys
// CHECK-NOT: top.MulConst
// CHECK: return
func.func @few_keys(%arg_q: tensor<2x8x4xf32>, %arg_k: tensor<2x4x31xf32>, %arg_v: tensor<2x31x4xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<2x4x31xf32>) -> tensor<2x4x31xf32> loc("k")
  %v = "top.Input"(%arg_v) : (tensor<2x31x4xf32>) -> tensor<2x31x4xf32> loc("v")
  %s = "top.Reduce"(%k) {axes = [2], keepdims = true, mode = "ReduceSum"} : (tensor<2x4x31xf32>) -> tensor<*xf32> loc("s")
  %b = "top.MatMul"(%q, %s, %n) : (tensor<2x8x4xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("b")
  %kv = "top.MatMul"(%k, %v, %n) : (tensor<2x4x31xf32>, tensor<2x31x4xf32>, none) -> tensor<*xf32> loc("kv")
  %a = "top.MatMul"(%q, %kv, %n) : (tensor<2x8x4xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("a")
  %y = "top.Div"(%a, %b) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// -----

// The divisor is read elsewhere, too.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK-NOT: top.MulConst
// CHECK: return
func.func @read_elsewhere(%arg_q: tensor<2x8x4xf32>, %arg_k: tensor<2x4x32xf32>, %arg_v: tensor<2x32x4xf32>) -> tensor<*xf32> {
  %n = "top.None"() : () -> none
  %q = "top.Input"(%arg_q) : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32> loc("q")
  %k = "top.Input"(%arg_k) : (tensor<2x4x32xf32>) -> tensor<2x4x32xf32> loc("k")
  %v = "top.Input"(%arg_v) : (tensor<2x32x4xf32>) -> tensor<2x32x4xf32> loc("v")
  %s = "top.Reduce"(%k) {axes = [2], keepdims = true, mode = "ReduceSum"} : (tensor<2x4x32xf32>) -> tensor<*xf32> loc("s")
  %b = "top.MatMul"(%q, %s, %n) : (tensor<2x8x4xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("b")
  %kv = "top.MatMul"(%k, %v, %n) : (tensor<2x4x32xf32>, tensor<2x32x4xf32>, none) -> tensor<*xf32> loc("kv")
  %a = "top.MatMul"(%q, %kv, %n) : (tensor<2x8x4xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("a")
  %d = "top.Div"(%a, %b) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("d")
  %y = "top.Add"(%d, %b) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}
