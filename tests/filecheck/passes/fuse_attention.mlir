// RUN: tpu-opt %s --split-input-file --fuse-attention=when=always --no-locations | filecheck %s

// Products, scale, mask and softmax become one op; the Permutes around them are read through.
func.func @attention(%arg0: tensor<1x6x4x8xf16>, %arg1: tensor<1x10x4x8xf16>, %arg2: tensor<1x10x4x8xf16>, %arg3: tensor<1x1x6x10xf16>) -> tensor<1x6x4x8xf16> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x6x4x8xf16>) -> tensor<1x6x4x8xf16>
  %2 = "top.Input"(%arg1) : (tensor<1x10x4x8xf16>) -> tensor<1x10x4x8xf16>
  %3 = "top.Input"(%arg2) : (tensor<1x10x4x8xf16>) -> tensor<1x10x4x8xf16>
  %4 = "top.Input"(%arg3) : (tensor<1x1x6x10xf16>) -> tensor<1x1x6x10xf16>
  %5 = "tpu.Permute"(%1, %0) {order = [0, 2, 1, 3]} : (tensor<1x6x4x8xf16>, none) -> tensor<1x4x6x8xf16>
  %6 = "tpu.Permute"(%2, %0) {order = [0, 2, 3, 1]} : (tensor<1x10x4x8xf16>, none) -> tensor<1x4x8x10xf16>
  %7 = "tpu.Permute"(%3, %0) {order = [0, 2, 1, 3]} : (tensor<1x10x4x8xf16>, none) -> tensor<1x4x10x8xf16>
  %8 = "tpu.MatMul"(%5, %6, %0, %0, %0) : (tensor<1x4x6x8xf16>, tensor<1x4x8x10xf16>, none, none, none) -> tensor<1x4x6x10xf16>
  %9 = "tpu.MulConst"(%8) {const_val = 2.5e-01 : f64} : (tensor<1x4x6x10xf16>) -> tensor<1x4x6x10xf16>
  %10 = "tpu.Add"(%9, %4) : (tensor<1x4x6x10xf16>, tensor<1x1x6x10xf16>) -> tensor<1x4x6x10xf16>
  %11 = "tpu.Softmax"(%10, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<1x4x6x10xf16>, none, none, none, none, none) -> tensor<1x4x6x10xf16>
  %12 = "tpu.MatMul"(%11, %7, %0, %0, %0) : (tensor<1x4x6x10xf16>, tensor<1x4x10x8xf16>, none, none, none) -> tensor<1x4x6x8xf16>
  %13 = "tpu.Permute"(%12, %0) {order = [0, 2, 1, 3]} : (tensor<1x4x6x8xf16>, none) -> tensor<1x6x4x8xf16>
  return %13 : tensor<1x6x4x8xf16>
}

// CHECK-LABEL: func.func @attention
// CHECK-NOT: tpu.MatMul
// CHECK: [[MASK:%.*]] = "tpu.Reshape"(%4{{.*}} -> tensor<1x6x1x10xf16>
// CHECK: "tpu.FAttention"(%1, %2, %3, [[MASK]], %0) {{.*}}kv_head = 4 : i64{{.*}}mask_by_row = true{{.*}}mk = 10 : i64, mq = 6 : i64, q_head = 4 : i64, scale = 2.5{{.*}}-> tensor<1x6x4x8xf16>
// CHECK-NOT: tpu.Softmax

// -----

// A mask of each head keeps its form.
func.func @mask_of_heads(%arg0: tensor<1x4x6x8xf16>, %arg1: tensor<1x4x6x6xf16>) -> tensor<1x4x6x8xf16> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x4x6x8xf16>) -> tensor<1x4x6x8xf16>
  %2 = "top.Input"(%arg1) : (tensor<1x4x6x6xf16>) -> tensor<1x4x6x6xf16>
  %3 = "tpu.MatMul"(%1, %1, %0, %0, %0) {right_transpose = true} : (tensor<1x4x6x8xf16>, tensor<1x4x6x8xf16>, none, none, none) -> tensor<1x4x6x6xf16>
  %4 = "tpu.Add"(%3, %2) : (tensor<1x4x6x6xf16>, tensor<1x4x6x6xf16>) -> tensor<1x4x6x6xf16>
  %5 = "tpu.Softmax"(%4, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<1x4x6x6xf16>, none, none, none, none, none) -> tensor<1x4x6x6xf16>
  %6 = "tpu.MatMul"(%5, %1, %0, %0, %0) : (tensor<1x4x6x6xf16>, tensor<1x4x6x8xf16>, none, none, none) -> tensor<1x4x6x8xf16>
  return %6 : tensor<1x4x6x8xf16>
}

// CHECK-LABEL: func.func @mask_of_heads
// CHECK-NOT: mask_by_row
// CHECK: "tpu.FAttention"({{.*}}, %2, %0)
// CHECK-NOT: mask_by_row
// CHECK: return

// -----

// Masks of images have their rows where queries do, too; a row for all rows needs no other place.
func.func @masks_of_images(%arg0: tensor<2x4x6x8xf16>, %arg1: tensor<2x1x6x6xf16>, %arg2: tensor<2x1x1x6xf16>) -> (tensor<2x4x6x8xf16>, tensor<2x4x6x8xf16>) {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<2x4x6x8xf16>) -> tensor<2x4x6x8xf16>
  %2 = "top.Input"(%arg1) : (tensor<2x1x6x6xf16>) -> tensor<2x1x6x6xf16>
  %3 = "top.Input"(%arg2) : (tensor<2x1x1x6xf16>) -> tensor<2x1x1x6xf16>
  %4 = "tpu.MatMul"(%1, %1, %0, %0, %0) {right_transpose = true} : (tensor<2x4x6x8xf16>, tensor<2x4x6x8xf16>, none, none, none) -> tensor<2x4x6x6xf16>
  %5 = "tpu.Add"(%4, %2) : (tensor<2x4x6x6xf16>, tensor<2x1x6x6xf16>) -> tensor<2x4x6x6xf16>
  %6 = "tpu.Softmax"(%5, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<2x4x6x6xf16>, none, none, none, none, none) -> tensor<2x4x6x6xf16>
  %7 = "tpu.MatMul"(%6, %1, %0, %0, %0) : (tensor<2x4x6x6xf16>, tensor<2x4x6x8xf16>, none, none, none) -> tensor<2x4x6x8xf16>
  %8 = "tpu.MatMul"(%1, %1, %0, %0, %0) {right_transpose = true} : (tensor<2x4x6x8xf16>, tensor<2x4x6x8xf16>, none, none, none) -> tensor<2x4x6x6xf16>
  %9 = "tpu.Add"(%8, %3) : (tensor<2x4x6x6xf16>, tensor<2x1x1x6xf16>) -> tensor<2x4x6x6xf16>
  %10 = "tpu.Softmax"(%9, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<2x4x6x6xf16>, none, none, none, none, none) -> tensor<2x4x6x6xf16>
  %11 = "tpu.MatMul"(%10, %1, %0, %0, %0) : (tensor<2x4x6x6xf16>, tensor<2x4x6x8xf16>, none, none, none) -> tensor<2x4x6x8xf16>
  return %7, %11 : tensor<2x4x6x8xf16>, tensor<2x4x6x8xf16>
}

// CHECK-LABEL: func.func @masks_of_images
// CHECK: [[MASK:%.*]] = "tpu.Reshape"(%2{{.*}} -> tensor<2x6x1x6xf16>
// CHECK: "tpu.FAttention"({{.*}}, [[MASK]], %0) {{.*}}mask_by_row = true
// CHECK: "tpu.FAttention"({{.*}}, %3, %0)
// CHECK-NOT: mask_by_row
// CHECK: return

// -----

// A softmax that something else reads, too, stays.
func.func @read_elsewhere(%arg0: tensor<1x4x6x8xf16>) -> tensor<1x4x6x6xf16> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x4x6x8xf16>) -> tensor<1x4x6x8xf16>
  %2 = "tpu.MatMul"(%1, %1, %0, %0, %0) {right_transpose = true} : (tensor<1x4x6x8xf16>, tensor<1x4x6x8xf16>, none, none, none) -> tensor<1x4x6x6xf16>
  %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<1x4x6x6xf16>, none, none, none, none, none) -> tensor<1x4x6x6xf16>
  %4 = "tpu.MatMul"(%3, %1, %0, %0, %0) : (tensor<1x4x6x6xf16>, tensor<1x4x6x8xf16>, none, none, none) -> tensor<1x4x6x8xf16>
  %5 = "tpu.MatMul"(%4, %1, %0, %0, %0) {right_transpose = true} : (tensor<1x4x6x8xf16>, tensor<1x4x6x8xf16>, none, none, none) -> tensor<1x4x6x6xf16>
  %6 = "tpu.Add"(%3, %5) : (tensor<1x4x6x6xf16>, tensor<1x4x6x6xf16>) -> tensor<1x4x6x6xf16>
  return %6 : tensor<1x4x6x6xf16>
}

// CHECK-LABEL: func.func @read_elsewhere
// CHECK: tpu.Softmax
// CHECK-NOT: tpu.FAttention

// -----

// So does an attention whose first product has a relu.
func.func @with_relu(%arg0: tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  %2 = "tpu.MatMul"(%1, %1, %0, %0, %0) {right_transpose = true, do_relu = true} : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, none, none, none) -> tensor<1x4x6x6xf32>
  %3 = "tpu.Softmax"(%2, %0, %0, %0, %0, %0) {axis = 3 : si32} : (tensor<1x4x6x6xf32>, none, none, none, none, none) -> tensor<1x4x6x6xf32>
  %4 = "tpu.MatMul"(%3, %1, %0, %0, %0) : (tensor<1x4x6x6xf32>, tensor<1x4x6x8xf32>, none, none, none) -> tensor<1x4x6x8xf32>
  return %4 : tensor<1x4x6x8xf32>
}

// CHECK-LABEL: func.func @with_relu
// CHECK-NOT: tpu.FAttention
// CHECK: return

// -----

// One row, and one head: axes of one element are wherever they are wanted.
func.func @one_row(%arg0: tensor<5x1x8xf16>, %arg1: tensor<5x7x8xf16>) -> tensor<5x1x8xf16> {
  %0 = "top.None"() : () -> none
  %1 = "top.Input"(%arg0) : (tensor<5x1x8xf16>) -> tensor<5x1x8xf16>
  %2 = "top.Input"(%arg1) : (tensor<5x7x8xf16>) -> tensor<5x7x8xf16>
  %3 = "tpu.MatMul"(%1, %2, %0, %0, %0) {right_transpose = true} : (tensor<5x1x8xf16>, tensor<5x7x8xf16>, none, none, none) -> tensor<5x1x7xf16>
  %4 = "tpu.Softmax"(%3, %0, %0, %0, %0, %0) {axis = 2 : si32} : (tensor<5x1x7xf16>, none, none, none, none, none) -> tensor<5x1x7xf16>
  %5 = "tpu.MatMul"(%4, %2, %0, %0, %0) : (tensor<5x1x7xf16>, tensor<5x7x8xf16>, none, none, none) -> tensor<5x1x8xf16>
  return %5 : tensor<5x1x8xf16>
}

// CHECK-LABEL: func.func @one_row
// CHECK: "tpu.FAttention"
// CHECK-NOT: tpu.Softmax

// -----

// Rows that come first, each with all its heads: so the result is given.
func.func @rows_first(%arg0: tensor<6x4x8xf16>, %arg1: tensor<10x4x8xf16>) -> tensor<6x4x8xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %q = "tpu.Permute"(%arg0, %none) {order = [1, 0, 2]} : (tensor<6x4x8xf16>, none) -> tensor<4x6x8xf16> loc("q")
  %k = "tpu.Permute"(%arg1, %none) {order = [1, 2, 0]} : (tensor<10x4x8xf16>, none) -> tensor<4x8x10xf16> loc("k")
  %v = "tpu.Permute"(%arg1, %none) {order = [1, 0, 2]} : (tensor<10x4x8xf16>, none) -> tensor<4x10x8xf16> loc("v")
  %s = "tpu.MatMul"(%q, %k, %none, %none, %none) : (tensor<4x6x8xf16>, tensor<4x8x10xf16>, none, none, none) -> tensor<4x6x10xf16> loc("s")
  %p = "tpu.Softmax"(%s, %none, %none, %none, %none, %none) {axis = 2 : si32} : (tensor<4x6x10xf16>, none, none, none, none, none) -> tensor<4x6x10xf16> loc("p")
  %m = "tpu.MatMul"(%p, %v, %none, %none, %none) : (tensor<4x6x10xf16>, tensor<4x10x8xf16>, none, none, none) -> tensor<4x6x8xf16> loc("m")
  %y = "tpu.Permute"(%m, %none) {order = [1, 0, 2]} : (tensor<4x6x8xf16>, none) -> tensor<6x4x8xf16> loc("y")
  return %y : tensor<6x4x8xf16>
}

// CHECK-LABEL: func.func @rows_first
// CHECK: [[Y:%.*]] = "tpu.FAttention"({{.*}} -> tensor<1x6x4x8xf16>
// CHECK-NEXT: [[H:%.*]] = "tpu.Permute"([[Y]], {{.*}}order = [0, 2, 1, 3]{{.*}} -> tensor<1x4x6x8xf16>
// CHECK-NEXT: "tpu.Reshape"([[H]]){{.*}} -> tensor<4x6x8xf16>

// -----

// In another order heads come first.
func.func @columns_first(%arg0: tensor<6x4x8xf16>, %arg1: tensor<10x4x8xf16>) -> tensor<8x4x6xf16> {
  %none = "top.None"() : () -> none loc(unknown)
  %q = "tpu.Permute"(%arg0, %none) {order = [1, 0, 2]} : (tensor<6x4x8xf16>, none) -> tensor<4x6x8xf16> loc("q")
  %k = "tpu.Permute"(%arg1, %none) {order = [1, 2, 0]} : (tensor<10x4x8xf16>, none) -> tensor<4x8x10xf16> loc("k")
  %v = "tpu.Permute"(%arg1, %none) {order = [1, 0, 2]} : (tensor<10x4x8xf16>, none) -> tensor<4x10x8xf16> loc("v")
  %s = "tpu.MatMul"(%q, %k, %none, %none, %none) : (tensor<4x6x8xf16>, tensor<4x8x10xf16>, none, none, none) -> tensor<4x6x10xf16> loc("s")
  %p = "tpu.Softmax"(%s, %none, %none, %none, %none, %none) {axis = 2 : si32} : (tensor<4x6x10xf16>, none, none, none, none, none) -> tensor<4x6x10xf16> loc("p")
  %m = "tpu.MatMul"(%p, %v, %none, %none, %none) : (tensor<4x6x10xf16>, tensor<4x10x8xf16>, none, none, none) -> tensor<4x6x8xf16> loc("m")
  %y = "tpu.Permute"(%m, %none) {order = [2, 0, 1]} : (tensor<4x6x8xf16>, none) -> tensor<8x4x6xf16> loc("y")
  return %y : tensor<8x4x6xf16>
}

// CHECK-LABEL: func.func @columns_first
// CHECK: "tpu.FAttention"({{.*}} -> tensor<1x4x6x8xf16>
