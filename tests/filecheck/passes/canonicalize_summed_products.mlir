// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --canonicalize="disable=SumOfProducts" --no-locations | filecheck %s --check-prefix=OFF

// SumOfProducts: rows of one and rows of the other, multiplied pair by pair and summed up.
// CHECK-LABEL: func.func @pairs
// CHECK: [[K:%.*]] = "top.Permute"({{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x32x48xf32>
// CHECK: [[Y:%.*]] = "top.MatMul"({{%.*}}, [[K]], {{.*}}-> tensor<2x64x48xf32>
// CHECK-NEXT: return [[Y]]
// OFF-LABEL: func.func @pairs
// OFF: "top.Reduce"
func.func @pairs(%a: tensor<2x64x1x32xf32>, %b: tensor<2x1x48x32xf32>) -> tensor<2x64x48xf32> {
  %x = "top.Input"(%a) : (tensor<2x64x1x32xf32>) -> tensor<2x64x1x32xf32> loc("x")
  %y = "top.Input"(%b) : (tensor<2x1x48x32xf32>) -> tensor<2x1x48x32xf32> loc("y")
  %p = "top.Mul"(%x, %y) : (tensor<2x64x1x32xf32>, tensor<2x1x48x32xf32>) -> tensor<2x64x48x32xf32> loc("p")
  %s = "top.Reduce"(%p) {axes = [3], keepdims = false, mode = "ReduceSum"} : (tensor<2x64x48x32xf32>) -> tensor<2x64x48xf32> loc("s")
  return %s : tensor<2x64x48xf32>
}

// -----

// Eight rows are matrices.
// CHECK-LABEL: func.func @eight
// CHECK: "top.MatMul"
func.func @eight(%a: tensor<8x1x32xf32>, %b: tensor<1x48x32xf32>) -> tensor<8x48xf32> {
  %x = "top.Input"(%a) : (tensor<8x1x32xf32>) -> tensor<8x1x32xf32> loc("x")
  %y = "top.Input"(%b) : (tensor<1x48x32xf32>) -> tensor<1x48x32xf32> loc("y")
  %p = "top.Mul"(%x, %y) : (tensor<8x1x32xf32>, tensor<1x48x32xf32>) -> tensor<8x48x32xf32> loc("p")
  %s = "top.Reduce"(%p) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<8x48x32xf32>) -> tensor<8x48xf32> loc("s")
  return %s : tensor<8x48xf32>
}

// -----

// Seven are not.
// CHECK-LABEL: func.func @seven
// CHECK-NOT: "top.MatMul"
// CHECK: "top.Reduce"
func.func @seven(%a: tensor<7x1x32xf32>, %b: tensor<1x48x32xf32>) -> tensor<7x48xf32> {
  %x = "top.Input"(%a) : (tensor<7x1x32xf32>) -> tensor<7x1x32xf32> loc("x")
  %y = "top.Input"(%b) : (tensor<1x48x32xf32>) -> tensor<1x48x32xf32> loc("y")
  %p = "top.Mul"(%x, %y) : (tensor<7x1x32xf32>, tensor<1x48x32xf32>) -> tensor<7x48x32xf32> loc("p")
  %s = "top.Reduce"(%p) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<7x48x32xf32>) -> tensor<7x48xf32> loc("s")
  return %s : tensor<7x48xf32>
}

// -----

// Integers stay.
// CHECK-LABEL: func.func @integers
// CHECK-NOT: "top.MatMul"
// CHECK: "top.Reduce"
func.func @integers(%a: tensor<64x1x32xsi32>, %b: tensor<1x48x32xsi32>) -> tensor<64x48xsi32> {
  %x = "top.Input"(%a) : (tensor<64x1x32xsi32>) -> tensor<64x1x32xsi32> loc("x")
  %y = "top.Input"(%b) : (tensor<1x48x32xsi32>) -> tensor<1x48x32xsi32> loc("y")
  %p = "top.Mul"(%x, %y) : (tensor<64x1x32xsi32>, tensor<1x48x32xsi32>) -> tensor<64x48x32xsi32> loc("p")
  %s = "top.Reduce"(%p) {axes = [2], keepdims = false, mode = "ReduceSum"} : (tensor<64x48x32xsi32>) -> tensor<64x48xsi32> loc("s")
  return %s : tensor<64x48xsi32>
}
