// RUN: tpu-opt %s --split-input-file --weights %S/Inputs/weights.npz --shape-infer --canonicalize --no-locations | filecheck %s

// Rows of choices times the matrices that they chose.

func.func @rows(%arg_s: tensor<4x2xf32>, %arg_x: tensor<8x1x5xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none loc("none")
  %s = "top.Input"(%arg_s) : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("s")
  %x = "top.Input"(%arg_x) : (tensor<8x1x5xf32>) -> tensor<8x1x5xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<2x5x6xf32> loc("random_2x5x6")
  %values, %indices = "top.TopK"(%s) {K = 2 : i64, axis = 1 : i64} : (tensor<4x2xf32>) -> (tensor<*xf32>, tensor<*xf32>) loc(fused["v", "i"])
  %line = "top.Reshape"(%indices) {shape = [8]} : (tensor<*xf32>) -> tensor<*xf32> loc("line")
  %m = "top.Gather"(%w, %line) {axis = 0 : si32} : (tensor<2x5x6xf32>, tensor<*xf32>) -> tensor<*xf32> loc("m")
  %y = "top.MatMul"(%x, %m, %none) : (tensor<8x1x5xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK-NOT: top.Gather
// CHECK-DAG: [[BELOW:%.*]] = "top.Weight"() : () -> tensor<10x6xf32>
// CHECK-DAG: [[HITS:%.*]] = "top.Compare"({{.*}}mode = "Equal"{{.*}} -> tensor<8x2x1xf32>
// CHECK: [[SPREAD:%.*]] = "top.Mul"({{%.*}}, [[HITS]]){{.*}} -> tensor<8x2x5xf32>
// CHECK: [[FLAT:%.*]] = "top.Reshape"([[SPREAD]]){{.*}} -> tensor<8x10xf32>
// CHECK: "top.MatMul"([[FLAT]], [[BELOW]]{{.*}} -> tensor<8x6xf32>

// -----

// One row chooses of two matrices: only what they chose is read.
func.func @few(%arg_s: tensor<1x2xf32>, %arg_x: tensor<1x1x5xf32>) -> tensor<*xf32> {
  %none = "top.None"() : () -> none loc("none")
  %s = "top.Input"(%arg_s) : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("s")
  %x = "top.Input"(%arg_x) : (tensor<1x1x5xf32>) -> tensor<1x1x5xf32> loc("x")
  %w = "top.Weight"() : () -> tensor<2x5x6xf32> loc("random_2x5x6")
  %values, %indices = "top.TopK"(%s) {K = 1 : i64, axis = 1 : i64} : (tensor<1x2xf32>) -> (tensor<*xf32>, tensor<*xf32>) loc(fused["v", "i"])
  %line = "top.Reshape"(%indices) {shape = [1]} : (tensor<*xf32>) -> tensor<*xf32> loc("line")
  %m = "top.Gather"(%w, %line) {axis = 0 : si32} : (tensor<2x5x6xf32>, tensor<*xf32>) -> tensor<*xf32> loc("m")
  %y = "top.MatMul"(%x, %m, %none) : (tensor<1x1x5xf32>, tensor<*xf32>, none) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @few
// CHECK: "top.Gather"
