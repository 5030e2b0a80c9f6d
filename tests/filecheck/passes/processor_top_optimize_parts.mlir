// RUN: tpu-opt %s --split-input-file --shape-infer --processor-top-optimize --no-locations | filecheck %s

// ReduceOfParts: two parts of an image's channels are added where they lie.
func.func @sum(%arg0: tensor<3x2x8x4x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg0) : (tensor<3x2x8x4x6xf32>) -> tensor<3x2x8x4x6xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<3x2x8x4x6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @sum
// CHECK: [[X:%.*]] = "top.Reshape"({{.*}}-> tensor<3x16x4x6xf32>
// CHECK-NEXT: [[A:%.*]] = "top.Slice"([[X]], {{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<3x8x4x6xf32>
// CHECK-NEXT: [[B:%.*]] = "top.Slice"([[X]], {{.*}}offset = [0, 8, 0, 0]{{.*}}-> tensor<3x8x4x6xf32>
// CHECK-NEXT: "top.Add"([[A]], [[B]])
// CHECK-NOT: top.Reduce

// -----

// A mean is a sum times 1 / parts; the axis stays as 1.
func.func @mean(%arg0: tensor<4x8x4x6xf32>) -> tensor<*xf32> {
  %x = "top.Input"(%arg0) : (tensor<4x8x4x6xf32>) -> tensor<4x8x4x6xf32> loc("x")
  %y = "top.Reduce"(%x) {axes = [0], keepdims = true, mode = "ReduceMean"} : (tensor<4x8x4x6xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @mean
// CHECK-COUNT-3: "top.Add"
// CHECK: [[M:%.*]] = "top.MulConst"({{.*}}const_val = 2.500000e-01
// CHECK-NEXT: return [[M]] : tensor<1x8x4x6xf32>

// -----

// Five parts are too many, rows of channels are no image, and a maximum is no sum.
func.func @left(%arg0: tensor<1x5x8x4x6xf32>, %arg1: tensor<1x2x8x6xf32>, %arg2: tensor<1x2x8x4x6xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %x = "top.Input"(%arg0) : (tensor<1x5x8x4x6xf32>) -> tensor<1x5x8x4x6xf32> loc("x")
  %r = "top.Input"(%arg1) : (tensor<1x2x8x6xf32>) -> tensor<1x2x8x6xf32> loc("r")
  %t = "top.Input"(%arg2) : (tensor<1x2x8x4x6xf32>) -> tensor<1x2x8x4x6xf32> loc("t")
  %a = "top.Reduce"(%x) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<1x5x8x4x6xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Reduce"(%r) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<1x2x8x6xf32>) -> tensor<*xf32> loc("b")
  %c = "top.Reduce"(%t) {axes = [1], keepdims = false, mode = "ReduceMax"} : (tensor<1x2x8x4x6xf32>) -> tensor<*xf32> loc("c")
  return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @left
// CHECK-COUNT-3: "top.Reduce"
// CHECK-NOT: top.Slice

// -----

// Branches that are weighted and added up are weighted one by one, and never put behind each other.
func.func @weighted(%arg0: tensor<3x8x4x6xf32>, %arg1: tensor<3x8x4x6xf32>, %arg2: tensor<3x2x8x1x1xf32>) -> tensor<*xf32> {
  %l = "top.Input"(%arg0) : (tensor<3x8x4x6xf32>) -> tensor<3x8x4x6xf32> loc("l")
  %r = "top.Input"(%arg1) : (tensor<3x8x4x6xf32>) -> tensor<3x8x4x6xf32> loc("r")
  %w = "top.Input"(%arg2) : (tensor<3x2x8x1x1xf32>) -> tensor<3x2x8x1x1xf32> loc("w")
  %a = "top.Unsqueeze"(%l) {axes = [1]} : (tensor<3x8x4x6xf32>) -> tensor<*xf32> loc("a")
  %b = "top.Unsqueeze"(%r) {axes = [1]} : (tensor<3x8x4x6xf32>) -> tensor<*xf32> loc("b")
  %x = "top.Concat"(%a, %b) {axis = 1 : si32} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32> loc("x")
  %m = "top.Mul"(%x, %w) : (tensor<*xf32>, tensor<3x2x8x1x1xf32>) -> tensor<*xf32> loc("m")
  %y = "top.Reduce"(%m) {axes = [1], keepdims = false, mode = "ReduceSum"} : (tensor<*xf32>) -> tensor<*xf32> loc("y")
  return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @weighted
// CHECK-NOT: top.Concat
// CHECK: [[U:%.*]] = "top.Slice"({{.*}}offset = [0, 0, 0, 0]{{.*}}-> tensor<3x8x1x1xf32>
// CHECK-NEXT: [[V:%.*]] = "top.Slice"({{.*}}offset = [0, 8, 0, 0]{{.*}}-> tensor<3x8x1x1xf32>
// CHECK-NEXT: [[P:%.*]] = "top.Mul"({{.*}}, [[U]]) {{.*}}-> tensor<3x8x4x6xf32>
// CHECK-NEXT: [[Q:%.*]] = "top.Mul"({{.*}}, [[V]]) {{.*}}-> tensor<3x8x4x6xf32>
// CHECK-NEXT: "top.Add"([[P]], [[Q]])
