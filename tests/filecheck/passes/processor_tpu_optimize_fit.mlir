// RUN: tpu-opt %s --split-input-file --processor-tpu-optimize --no-locations | filecheck %s
// RUN: tpu-opt %s --split-input-file --processor-tpu-optimize="disable=PermuteToReshape" --no-locations | filecheck %s

// Permutes beside Reshapes: those of ones go, pairs become one, products find their own form.

// ReshapePermuteFuse: 1xCx1xW becomes what it was.
// CHECK-LABEL: func.func @ones_behind
// CHECK-NOT: "tpu.Reshape"
// CHECK-NOT: "tpu.Permute"
module attributes {module.state = "TPU_LOWERED"} {
func.func @ones_behind(%arg0: tensor<1x1x5x7xf32>) -> tensor<1x1x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x1x5x7xf32>) -> tensor<1x1x5x7xf32> loc("x")
  %r = "tpu.Reshape"(%x) {shape = [1, 5, 1, 7]} : (tensor<1x1x5x7xf32>) -> tensor<1x5x1x7xf32> loc("r")
  %p = "tpu.Permute"(%r, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x1x7xf32>, none) -> tensor<1x1x5x7xf32> loc("p")
  %y = "tpu.MinConst"(%p) {const_val = 1.0 : f64} : (tensor<1x1x5x7xf32>) -> tensor<1x1x5x7xf32> loc("y")
  return %y : tensor<1x1x5x7xf32>
}
}

// -----

// PermuteReshapeFuse
// CHECK-LABEL: func.func @ones_in_front
// CHECK: "tpu.Reshape"(%{{.*}}) {{.*}} : (tensor<1x1x5x7xf32>) -> tensor<1x35xf32>
// CHECK-NOT: "tpu.Permute"
module attributes {module.state = "TPU_LOWERED"} {
func.func @ones_in_front(%arg0: tensor<1x1x5x7xf32>) -> tensor<1x35xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x1x5x7xf32>) -> tensor<1x1x5x7xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<1x1x5x7xf32>, none) -> tensor<1x5x1x7xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [1, 35]} : (tensor<1x5x1x7xf32>) -> tensor<1x35xf32> loc("r")
  %y = "tpu.MinConst"(%r) {const_val = 1.0 : f64} : (tensor<1x35xf32>) -> tensor<1x35xf32> loc("y")
  return %y : tensor<1x35xf32>
}
}

// -----

// Refused: data move, if only two elements.
// CHECK-LABEL: func.func @twos
// CHECK: "tpu.Reshape"
// CHECK-NEXT: "tpu.Permute"
module attributes {module.state = "TPU_LOWERED"} {
func.func @twos(%arg0: tensor<1x2x5x7xf32>) -> tensor<1x2x5x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<1x2x5x7xf32>) -> tensor<1x2x5x7xf32> loc("x")
  %r = "tpu.Reshape"(%x) {shape = [1, 5, 2, 7]} : (tensor<1x2x5x7xf32>) -> tensor<1x5x2x7xf32> loc("r")
  %p = "tpu.Permute"(%r, %n) {order = [0, 2, 1, 3]} : (tensor<1x5x2x7xf32>, none) -> tensor<1x2x5x7xf32> loc("p")
  %y = "tpu.MinConst"(%p) {const_val = 1.0 : f64} : (tensor<1x2x5x7xf32>) -> tensor<1x2x5x7xf32> loc("y")
  return %y : tensor<1x2x5x7xf32>
}
}

// -----

// PermuteReshapeFuse2: channels first, split in windows, channels last.
// CHECK-LABEL: func.func @windows
// CHECK: "tpu.Reshape"{{.*}} : (tensor<2x48x96xf32>) -> tensor<2x2x6x2x2x96xf32>
// CHECK-NEXT: "tpu.Permute"{{.*}}order = [0, 1, 3, 2, 4, 5]{{.*}}-> tensor<2x2x2x6x2x96xf32>
// CHECK-NOT: "tpu.Permute"
module attributes {module.state = "TPU_LOWERED"} {
func.func @windows(%arg0: tensor<2x48x96xf32>) -> tensor<2x2x2x6x2x96xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x48x96xf32>) -> tensor<2x48x96xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1]} : (tensor<2x48x96xf32>, none) -> tensor<2x96x48xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [2, 96, 2, 6, 2, 2]} : (tensor<2x96x48xf32>) -> tensor<2x96x2x6x2x2xf32> loc("r")
  %q = "tpu.Permute"(%r, %n) {order = [0, 2, 4, 3, 5, 1]} : (tensor<2x96x2x6x2x2xf32>, none) -> tensor<2x2x2x6x2x96xf32> loc("q")
  return %q : tensor<2x2x2x6x2x96xf32>
}
}

// -----

// Refused: the Reshape merges what the second Permute takes as one.
// CHECK-LABEL: func.func @merged
// CHECK: "tpu.Permute"
// CHECK-NEXT: "tpu.Reshape"
// CHECK-NEXT: "tpu.Permute"
module attributes {module.state = "TPU_LOWERED"} {
func.func @merged(%arg0: tensor<2x5x3x7xf32>) -> tensor<2x7x15xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]} : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [2, 15, 7]} : (tensor<2x3x5x7xf32>) -> tensor<2x15x7xf32> loc("r")
  %q = "tpu.Permute"(%r, %n) {order = [0, 2, 1]} : (tensor<2x15x7xf32>, none) -> tensor<2x7x15xf32> loc("q")
  return %q : tensor<2x7x15xf32>
}
}

// -----

// FitPermute2Hdim: rows and heads of tensors without a batch dimension.
// CHECK-LABEL: func.func @no_batch
// CHECK-DAG: "tpu.Reshape"{{.*}} : (tensor<7x3x5xf32>) -> tensor<1x7x3x5xf32>
// CHECK-DAG: "tpu.Reshape"{{.*}} : (tensor<5x3x6xf32>) -> tensor<1x5x3x6xf32>
// CHECK-NOT: "tpu.Permute"
// CHECK: "tpu.MatMul"{{.*}}hdim_is_batch = true
// CHECK: "tpu.Permute"{{.*}}-> tensor<1x3x7x6xf32>
module attributes {module.state = "TPU_LOWERED"} {
func.func @no_batch(%arg0: tensor<7x3x5xf32>, %arg1: tensor<5x3x6xf32>) -> tensor<1x3x7x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<7x3x5xf32>) -> tensor<7x3x5xf32> loc("x")
  %w = "top.Input"(%arg1) : (tensor<5x3x6xf32>) -> tensor<5x3x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [1, 0, 2]} : (tensor<7x3x5xf32>, none) -> tensor<3x7x5xf32> loc("p")
  %q = "tpu.Permute"(%w, %n) {order = [1, 0, 2]} : (tensor<5x3x6xf32>, none) -> tensor<3x5x6xf32> loc("q")
  %r = "tpu.Reshape"(%p) {shape = [1, 3, 7, 5]} : (tensor<3x7x5xf32>) -> tensor<1x3x7x5xf32> loc("r")
  %s = "tpu.Reshape"(%q) {shape = [1, 3, 5, 6]} : (tensor<3x5x6xf32>) -> tensor<1x3x5x6xf32> loc("s")
  %y = "tpu.MatMul"(%r, %s, %n, %n, %n) : (tensor<1x3x7x5xf32>, tensor<1x3x5x6xf32>, none, none, none) -> tensor<1x3x7x6xf32> loc("y")
  return %y : tensor<1x3x7x6xf32>
}
}

// -----

// Refused: heads and columns are swapped, which no product reads.
// CHECK-LABEL: func.func @other_order
// CHECK-NOT: hdim_is_batch = true
module attributes {module.state = "TPU_LOWERED"} {
func.func @other_order(%arg0: tensor<5x7x3xf32>, %arg1: tensor<1x3x5x6xf32>) -> tensor<1x3x7x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg0) : (tensor<5x7x3xf32>) -> tensor<5x7x3xf32> loc("x")
  %w = "top.Input"(%arg1) : (tensor<1x3x5x6xf32>) -> tensor<1x3x5x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [2, 1, 0]} : (tensor<5x7x3xf32>, none) -> tensor<3x7x5xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [1, 3, 7, 5]} : (tensor<3x7x5xf32>) -> tensor<1x3x7x5xf32> loc("r")
  %y = "tpu.MatMul"(%r, %w, %n, %n, %n) : (tensor<1x3x7x5xf32>, tensor<1x3x5x6xf32>, none, none, none) -> tensor<1x3x7x6xf32> loc("y")
  return %y : tensor<1x3x7x6xf32>
}
}

// -----

// Refused: the product reads heads as they lie already.
func.func @fit_reads_heads(%arg_x: tensor<3x7x5xf32>, %arg_w: tensor<1x5x3x6xf32>) -> tensor<1x7x3x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x7x5xf32>) -> tensor<3x7x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x5x3x6xf32>) -> tensor<1x5x3x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [1, 0, 2]} : (tensor<3x7x5xf32>, none) -> tensor<7x3x5xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [1, 7, 3, 5]} : (tensor<7x3x5xf32>) -> tensor<1x7x3x5xf32> loc("r")
  %y = "tpu.MatMul"(%r, %w, %n, %n, %n) {hdim_is_batch = true} : (tensor<1x7x3x5xf32>, tensor<1x5x3x6xf32>, none, none, none) -> tensor<1x7x3x6xf32> loc("y")
  return %y : tensor<1x7x3x6xf32>
}

// CHECK-LABEL: func.func @fit_reads_heads
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [1, 0, 2]{{.*}}-> tensor<7x3x5xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<1x7x3x5xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%4, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<1x7x3x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the result is transposed.
func.func @fit_output_transposed(%arg_x: tensor<7x3x5xf32>, %arg_w: tensor<1x3x5x6xf32>) -> tensor<1x3x6x7xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<7x3x5xf32>) -> tensor<7x3x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x3x5x6xf32>) -> tensor<1x3x5x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [1, 0, 2]} : (tensor<7x3x5xf32>, none) -> tensor<3x7x5xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [1, 3, 7, 5]} : (tensor<3x7x5xf32>) -> tensor<1x3x7x5xf32> loc("r")
  %y = "tpu.MatMul"(%r, %w, %n, %n, %n) {output_transpose = true} : (tensor<1x3x7x5xf32>, tensor<1x3x5x6xf32>, none, none, none) -> tensor<1x3x6x7xf32> loc("y")
  return %y : tensor<1x3x6x7xf32>
}

// CHECK-LABEL: func.func @fit_output_transposed
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [1, 0, 2]{{.*}}-> tensor<3x7x5xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<1x3x7x5xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%4, %2, %0, %0, %0){{.*}}output_transpose = true{{.*}}-> tensor<1x3x6x7xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the product merges its rows.
func.func @fit_rows_merged(%arg_x: tensor<7x3x5xf32>, %arg_w: tensor<1x3x5x6xf32>) -> tensor<21x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<7x3x5xf32>) -> tensor<7x3x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x3x5x6xf32>) -> tensor<1x3x5x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [1, 0, 2]} : (tensor<7x3x5xf32>, none) -> tensor<3x7x5xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [1, 3, 7, 5]} : (tensor<3x7x5xf32>) -> tensor<1x3x7x5xf32> loc("r")
  %y = "tpu.MatMul"(%r, %w, %n, %n, %n) {keep_dims = false} : (tensor<1x3x7x5xf32>, tensor<1x3x5x6xf32>, none, none, none) -> tensor<21x6xf32> loc("y")
  return %y : tensor<21x6xf32>
}

// CHECK-LABEL: func.func @fit_rows_merged
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [1, 0, 2]{{.*}}-> tensor<3x7x5xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<1x3x7x5xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%4, %2, %0, %0, %0){{.*}}keep_dims = false{{.*}}-> tensor<21x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: five dimensions.
func.func @fit_five_dimensions(%arg_x: tensor<7x3x5xf32>, %arg_w: tensor<1x1x3x5x6xf32>) -> tensor<1x1x3x7x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<7x3x5xf32>) -> tensor<7x3x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x1x3x5x6xf32>) -> tensor<1x1x3x5x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [1, 0, 2]} : (tensor<7x3x5xf32>, none) -> tensor<3x7x5xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [1, 1, 3, 7, 5]} : (tensor<3x7x5xf32>) -> tensor<1x1x3x7x5xf32> loc("r")
  %y = "tpu.MatMul"(%r, %w, %n, %n, %n) : (tensor<1x1x3x7x5xf32>, tensor<1x1x3x5x6xf32>, none, none, none) -> tensor<1x1x3x7x6xf32> loc("y")
  return %y : tensor<1x1x3x7x6xf32>
}

// CHECK-LABEL: func.func @fit_five_dimensions
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [1, 0, 2]{{.*}}-> tensor<3x7x5xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<1x1x3x7x5xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%4, %2, %0, %0, %0){{.*}}-> tensor<1x1x3x7x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: one matrix for all heads.
func.func @fit_heads_broadcast(%arg_x: tensor<7x3x5xf32>, %arg_w: tensor<1x1x5x6xf32>) -> tensor<1x3x7x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<7x3x5xf32>) -> tensor<7x3x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x1x5x6xf32>) -> tensor<1x1x5x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [1, 0, 2]} : (tensor<7x3x5xf32>, none) -> tensor<3x7x5xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [1, 3, 7, 5]} : (tensor<3x7x5xf32>) -> tensor<1x3x7x5xf32> loc("r")
  %y = "tpu.MatMul"(%r, %w, %n, %n, %n) : (tensor<1x3x7x5xf32>, tensor<1x1x5x6xf32>, none, none, none) -> tensor<1x3x7x6xf32> loc("y")
  return %y : tensor<1x3x7x6xf32>
}

// CHECK-LABEL: func.func @fit_heads_broadcast
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [1, 0, 2]{{.*}}-> tensor<3x7x5xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<1x3x7x5xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%4, %2, %0, %0, %0){{.*}}-> tensor<1x3x7x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: rows and columns swap, which sizes alone do not tell from rows and heads.
func.func @fit_equal_sizes(%arg_x: tensor<4x4x4xf32>, %arg_w: tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1]} : (tensor<4x4x4xf32>, none) -> tensor<4x4x4xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [1, 4, 4, 4]} : (tensor<4x4x4xf32>) -> tensor<1x4x4x4xf32> loc("r")
  %y = "tpu.MatMul"(%r, %w, %n, %n, %n) : (tensor<1x4x4x4xf32>, tensor<1x4x4x6xf32>, none, none, none) -> tensor<1x4x4x6xf32> loc("y")
  return %y : tensor<1x4x4x6xf32>
}

// CHECK-LABEL: func.func @fit_equal_sizes
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1]{{.*}}-> tensor<4x4x4xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<1x4x4x4xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%4, %2, %0, %0, %0){{.*}}-> tensor<1x4x4x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the one Permute would take two steps on the chip.
func.func @two_steps(%arg_x: tensor<6x8x10xf32>) -> tensor<5x3x2x2x2x4xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<6x8x10xf32>) -> tensor<6x8x10xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1]} : (tensor<6x8x10xf32>, none) -> tensor<6x10x8xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [2, 3, 2, 5, 2, 4]} : (tensor<6x10x8xf32>) -> tensor<2x3x2x5x2x4xf32> loc("r")
  %q = "tpu.Permute"(%r, %n) {order = [3, 1, 4, 0, 2, 5]} : (tensor<2x3x2x5x2x4xf32>, none) -> tensor<5x3x2x2x2x4xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<5x3x2x2x2x4xf32>) -> tensor<5x3x2x2x2x4xf32> loc("y")
  return %y : tensor<5x3x2x2x2x4xf32>
}

// CHECK-LABEL: func.func @two_steps
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1]{{.*}}-> tensor<6x10x8xf32>
// CHECK-NEXT: %3 = "tpu.Reshape"(%2){{.*}}-> tensor<2x3x2x5x2x4xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [3, 1, 4, 0, 2, 5]{{.*}}-> tensor<5x3x2x2x2x4xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<5x3x2x2x2x4xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the Reshape joins parts of two dimensions, though there are as many as before.
func.func @sizes_exchanged(%arg_x: tensor<2x4x6xf32>) -> tensor<4x2x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32> loc("x")
  %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1]} : (tensor<2x4x6xf32>, none) -> tensor<2x6x4xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [2, 4, 6]} : (tensor<2x6x4xf32>) -> tensor<2x4x6xf32> loc("r")
  %q = "tpu.Permute"(%r, %n) {order = [1, 0, 2]} : (tensor<2x4x6xf32>, none) -> tensor<4x2x6xf32> loc("q")
  %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64} : (tensor<4x2x6xf32>) -> tensor<4x2x6xf32> loc("y")
  return %y : tensor<4x2x6xf32>
}

// CHECK-LABEL: func.func @sizes_exchanged
// CHECK: %2 = "tpu.Permute"(%1, %0){{.*}}order = [0, 2, 1]{{.*}}-> tensor<2x6x4xf32>
// CHECK-NEXT: %3 = "tpu.Reshape"(%2){{.*}}-> tensor<2x4x6xf32>
// CHECK-NEXT: %4 = "tpu.Permute"(%3, %0){{.*}}order = [1, 0, 2]{{.*}}-> tensor<4x2x6xf32>
// CHECK-NEXT: %5 = "tpu.MinConst"(%4){{.*}}-> tensor<4x2x6xf32>
// CHECK-NEXT: return %5

// -----

// Refused likewise: as many rows as there are columns, so that batch and heads seem the same.
func.func @fit_reads_heads_of_equal_sizes(%arg_x: tensor<3x5x5xf32>, %arg_w: tensor<1x5x3x6xf32>) -> tensor<1x5x3x6xf32> {
  %n = "top.None"() : () -> none
  %x = "top.Input"(%arg_x) : (tensor<3x5x5xf32>) -> tensor<3x5x5xf32> loc("x")
  %w = "top.Input"(%arg_w) : (tensor<1x5x3x6xf32>) -> tensor<1x5x3x6xf32> loc("w")
  %p = "tpu.Permute"(%x, %n) {order = [1, 0, 2]} : (tensor<3x5x5xf32>, none) -> tensor<5x3x5xf32> loc("p")
  %r = "tpu.Reshape"(%p) {shape = [1, 5, 3, 5]} : (tensor<5x3x5xf32>) -> tensor<1x5x3x5xf32> loc("r")
  %y = "tpu.MatMul"(%r, %w, %n, %n, %n) {hdim_is_batch = true} : (tensor<1x5x3x5xf32>, tensor<1x5x3x6xf32>, none, none, none) -> tensor<1x5x3x6xf32> loc("y")
  return %y : tensor<1x5x3x6xf32>
}

// CHECK-LABEL: func.func @fit_reads_heads_of_equal_sizes
// CHECK: %3 = "tpu.Permute"(%1, %0){{.*}}order = [1, 0, 2]{{.*}}-> tensor<5x3x5xf32>
// CHECK-NEXT: %4 = "tpu.Reshape"(%3){{.*}}-> tensor<1x5x3x5xf32>
// CHECK-NEXT: %5 = "tpu.MatMul"(%4, %2, %0, %0, %0){{.*}}hdim_is_batch = true{{.*}}-> tensor<1x5x3x6xf32>
// CHECK-NEXT: return %5
