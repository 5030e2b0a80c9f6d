// RUN: tpu-opt %s --split-input-file --canonicalize --no-locations | filecheck %s

// Reshape4Depth2SpacePattern: blocks of pixels become channels.

// Column by column.
func.func @columns(%arg0: tensor<1x6x4x8xf32>) -> tensor<1x3x2x32xf32> {
  %0 = "top.Input"(%arg0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %1 = "top.Abs"(%0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %2 = "top.Reshape"(%1) {shape = [1, 3, 2, 2, 2, 8]} : (tensor<1x6x4x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 4, 2, 5]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 3, 2, 32]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x32xf32>
  %5 = "top.Sin"(%4) : (tensor<1x3x2x32xf32>) -> tensor<1x3x2x32xf32>
  return %5 : tensor<1x3x2x32xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<1x6x4x8xf32>
// CHECK-NEXT: %2 = "top.Depth2Space"(%1){{.*}}block_h = 2 : i64{{.*}}block_w = 2 : i64{{.*}}in_is_NCHW = false{{.*}}is_CRD = false{{.*}}is_inversed = true{{.*}}out_is_NCHW = false{{.*}}swap_cr = true{{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: %3 = "top.Sin"(%2){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: return %3

// -----

// Row by row.
func.func @rows(%arg0: tensor<1x6x4x8xf32>) -> tensor<1x3x2x32xf32> {
  %0 = "top.Input"(%arg0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %1 = "top.Abs"(%0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %2 = "top.Reshape"(%1) {shape = [1, 3, 2, 2, 2, 8]} : (tensor<1x6x4x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 2, 4, 5]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 3, 2, 32]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x32xf32>
  %5 = "top.Sin"(%4) : (tensor<1x3x2x32xf32>) -> tensor<1x3x2x32xf32>
  return %5 : tensor<1x3x2x32xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<1x6x4x8xf32>
// CHECK-NEXT: %2 = "top.Depth2Space"(%1){{.*}}block_h = 2 : i64{{.*}}block_w = 2 : i64{{.*}}in_is_NCHW = false{{.*}}is_CRD = false{{.*}}is_inversed = true{{.*}}out_is_NCHW = false{{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: %3 = "top.Sin"(%2){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: return %3

// -----

// Several images, blocks of 3 x 2.
func.func @batch(%arg0: tensor<2x6x6x8xf32>) -> tensor<2x2x3x48xf32> {
  %0 = "top.Input"(%arg0) : (tensor<2x6x6x8xf32>) -> tensor<2x6x6x8xf32>
  %1 = "top.Abs"(%0) : (tensor<2x6x6x8xf32>) -> tensor<2x6x6x8xf32>
  %2 = "top.Reshape"(%1) {shape = [2, 2, 3, 3, 2, 8]} : (tensor<2x6x6x8xf32>) -> tensor<2x2x3x3x2x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 4, 2, 5]} : (tensor<2x2x3x3x2x8xf32>) -> tensor<2x2x3x2x3x8xf32>
  %4 = "top.Reshape"(%3) {shape = [2, 2, 3, 48]} : (tensor<2x2x3x2x3x8xf32>) -> tensor<2x2x3x48xf32>
  %5 = "top.Sin"(%4) : (tensor<2x2x3x48xf32>) -> tensor<2x2x3x48xf32>
  return %5 : tensor<2x2x3x48xf32>
}

// CHECK-LABEL: func.func @batch
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<2x6x6x8xf32>
// CHECK-NEXT: %2 = "top.Depth2Space"(%1){{.*}}block_h = 3 : i64{{.*}}block_w = 2 : i64{{.*}}in_is_NCHW = false{{.*}}is_CRD = false{{.*}}is_inversed = true{{.*}}out_is_NCHW = false{{.*}}swap_cr = true{{.*}}-> tensor<2x2x3x48xf32>
// CHECK-NEXT: %3 = "top.Sin"(%2){{.*}}-> tensor<2x2x3x48xf32>
// CHECK-NEXT: return %3

// -----

// Rows and columns in one.
func.func @flat(%arg0: tensor<1x24x8xf32>) -> tensor<1x3x2x32xf32> {
  %0 = "top.Input"(%arg0) : (tensor<1x24x8xf32>) -> tensor<1x24x8xf32>
  %1 = "top.Abs"(%0) : (tensor<1x24x8xf32>) -> tensor<1x24x8xf32>
  %2 = "top.Reshape"(%1) {shape = [1, 3, 2, 2, 2, 8]} : (tensor<1x24x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 4, 2, 5]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 3, 2, 32]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x32xf32>
  %5 = "top.Sin"(%4) : (tensor<1x3x2x32xf32>) -> tensor<1x3x2x32xf32>
  return %5 : tensor<1x3x2x32xf32>
}

// CHECK-LABEL: func.func @flat
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<1x24x8xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}-> tensor<1x6x4x8xf32>
// CHECK-NEXT: %3 = "top.Depth2Space"(%2){{.*}}block_h = 2 : i64{{.*}}block_w = 2 : i64{{.*}}in_is_NCHW = false{{.*}}is_CRD = false{{.*}}is_inversed = true{{.*}}out_is_NCHW = false{{.*}}swap_cr = true{{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: %4 = "top.Sin"(%3){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: return %4

// -----

// Blocks of one pixel need no op.
func.func @one_pixel(%arg0: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %0 = "top.Input"(%arg0) : (tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  %1 = "top.Abs"(%0) : (tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  %2 = "top.Reshape"(%1) {shape = [1, 3, 1, 2, 1, 8]} : (tensor<1x3x2x8xf32>) -> tensor<1x3x1x2x1x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 4, 2, 5]} : (tensor<1x3x1x2x1x8xf32>) -> tensor<1x3x2x1x1x8xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 3, 2, 8]} : (tensor<1x3x2x1x1x8xf32>) -> tensor<1x3x2x8xf32>
  %5 = "top.Sin"(%4) : (tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %5 : tensor<1x3x2x8xf32>
}

// CHECK-LABEL: func.func @one_pixel
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<1x3x2x8xf32>
// CHECK-NEXT: %2 = "top.Sin"(%1){{.*}}-> tensor<1x3x2x8xf32>
// CHECK-NEXT: return %2

// -----

// Refused: another order.
func.func @other_order(%arg0: tensor<1x6x4x8xf32>) -> tensor<1x3x2x32xf32> {
  %0 = "top.Input"(%arg0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %1 = "top.Abs"(%0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %2 = "top.Reshape"(%1) {shape = [1, 3, 2, 2, 2, 8]} : (tensor<1x6x4x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 3, 1, 4, 2, 5]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x2x3x2x2x8xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 3, 2, 32]} : (tensor<1x2x3x2x2x8xf32>) -> tensor<1x3x2x32xf32>
  %5 = "top.Sin"(%4) : (tensor<1x3x2x32xf32>) -> tensor<1x3x2x32xf32>
  return %5 : tensor<1x3x2x32xf32>
}

// CHECK-LABEL: func.func @other_order
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<1x6x4x8xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 1, 3, 4, 2, 5]{{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %4 = "top.Permute"(%3){{.*}}order = [0, 2, 1, 3, 4, 5]{{.*}}-> tensor<1x2x3x2x2x8xf32>
// CHECK-NEXT: %5 = "top.Reshape"(%4){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: %6 = "top.Sin"(%5){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: return %6

// -----

// Refused: rows and columns are merged behind.
func.func @merged_rows(%arg0: tensor<1x6x4x8xf32>) -> tensor<1x6x32xf32> {
  %0 = "top.Input"(%arg0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %1 = "top.Abs"(%0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %2 = "top.Reshape"(%1) {shape = [1, 3, 2, 2, 2, 8]} : (tensor<1x6x4x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 4, 2, 5]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 6, 32]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x6x32xf32>
  %5 = "top.Sin"(%4) : (tensor<1x6x32xf32>) -> tensor<1x6x32xf32>
  return %5 : tensor<1x6x32xf32>
}

// CHECK-LABEL: func.func @merged_rows
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<1x6x4x8xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 1, 3, 4, 2, 5]{{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<1x6x32xf32>
// CHECK-NEXT: %5 = "top.Sin"(%4){{.*}}-> tensor<1x6x32xf32>
// CHECK-NEXT: return %5

// -----

// Refused: only half of a block becomes channels.
func.func @half_block(%arg0: tensor<1x6x4x8xf32>) -> tensor<1x3x4x16xf32> {
  %0 = "top.Input"(%arg0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %1 = "top.Abs"(%0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %2 = "top.Reshape"(%1) {shape = [1, 3, 2, 2, 2, 8]} : (tensor<1x6x4x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 4, 2, 5]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 3, 4, 16]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x4x16xf32>
  %5 = "top.Sin"(%4) : (tensor<1x3x4x16xf32>) -> tensor<1x3x4x16xf32>
  return %5 : tensor<1x3x4x16xf32>
}

// CHECK-LABEL: func.func @half_block
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<1x6x4x8xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 1, 3, 4, 2, 5]{{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<1x3x4x16xf32>
// CHECK-NEXT: %5 = "top.Sin"(%4){{.*}}-> tensor<1x3x4x16xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the image has other channels.
func.func @other_channels(%arg0: tensor<1x6x2x16xf32>) -> tensor<1x3x2x32xf32> {
  %0 = "top.Input"(%arg0) : (tensor<1x6x2x16xf32>) -> tensor<1x6x2x16xf32>
  %1 = "top.Abs"(%0) : (tensor<1x6x2x16xf32>) -> tensor<1x6x2x16xf32>
  %2 = "top.Reshape"(%1) {shape = [1, 3, 2, 2, 2, 8]} : (tensor<1x6x2x16xf32>) -> tensor<1x3x2x2x2x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 4, 2, 5]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 3, 2, 32]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x32xf32>
  %5 = "top.Sin"(%4) : (tensor<1x3x2x32xf32>) -> tensor<1x3x2x32xf32>
  return %5 : tensor<1x3x2x32xf32>
}

// CHECK-LABEL: func.func @other_channels
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<1x6x2x16xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 1, 3, 4, 2, 5]{{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: %5 = "top.Sin"(%4){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the image has no batch.
func.func @no_batch(%arg0: tensor<24x8xf32>) -> tensor<1x3x2x32xf32> {
  %0 = "top.Input"(%arg0) : (tensor<24x8xf32>) -> tensor<24x8xf32>
  %1 = "top.Abs"(%0) : (tensor<24x8xf32>) -> tensor<24x8xf32>
  %2 = "top.Reshape"(%1) {shape = [1, 3, 2, 2, 2, 8]} : (tensor<24x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 4, 2, 5]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 3, 2, 32]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x32xf32>
  %5 = "top.Sin"(%4) : (tensor<1x3x2x32xf32>) -> tensor<1x3x2x32xf32>
  return %5 : tensor<1x3x2x32xf32>
}

// CHECK-LABEL: func.func @no_batch
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<24x8xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 1, 3, 4, 2, 5]{{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: %5 = "top.Sin"(%4){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: return %5

// -----

// Refused: the split image is used.
func.func @split_used(%arg0: tensor<1x6x4x8xf32>) -> (tensor<1x3x2x32xf32>, tensor<1x3x2x2x2x8xf32>) {
  %0 = "top.Input"(%arg0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %1 = "top.Abs"(%0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %2 = "top.Reshape"(%1) {shape = [1, 3, 2, 2, 2, 8]} : (tensor<1x6x4x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 4, 2, 5]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 3, 2, 32]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x32xf32>
  %5 = "top.Sin"(%4) : (tensor<1x3x2x32xf32>) -> tensor<1x3x2x32xf32>
  %6 = "top.Cos"(%2) : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  return %5, %6 : tensor<1x3x2x32xf32>, tensor<1x3x2x2x2x8xf32>
}

// CHECK-LABEL: func.func @split_used
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<1x6x4x8xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 1, 3, 4, 2, 5]{{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: %5 = "top.Sin"(%4){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: %6 = "top.Cos"(%2){{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: return %5, %6

// -----

// Refused: the permuted image is used.
func.func @permute_used(%arg0: tensor<1x6x4x8xf32>) -> (tensor<1x3x2x32xf32>, tensor<1x3x2x2x2x8xf32>) {
  %0 = "top.Input"(%arg0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %1 = "top.Abs"(%0) : (tensor<1x6x4x8xf32>) -> tensor<1x6x4x8xf32>
  %2 = "top.Reshape"(%1) {shape = [1, 3, 2, 2, 2, 8]} : (tensor<1x6x4x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %3 = "top.Permute"(%2) {order = [0, 1, 3, 4, 2, 5]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  %4 = "top.Reshape"(%3) {shape = [1, 3, 2, 32]} : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x32xf32>
  %5 = "top.Sin"(%4) : (tensor<1x3x2x32xf32>) -> tensor<1x3x2x32xf32>
  %6 = "top.Cos"(%3) : (tensor<1x3x2x2x2x8xf32>) -> tensor<1x3x2x2x2x8xf32>
  return %5, %6 : tensor<1x3x2x32xf32>, tensor<1x3x2x2x2x8xf32>
}

// CHECK-LABEL: func.func @permute_used
// CHECK: %1 = "top.Abs"(%0){{.*}}-> tensor<1x6x4x8xf32>
// CHECK-NEXT: %2 = "top.Reshape"(%1){{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %3 = "top.Permute"(%2){{.*}}order = [0, 1, 3, 4, 2, 5]{{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: %4 = "top.Reshape"(%3){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: %5 = "top.Sin"(%4){{.*}}-> tensor<1x3x2x32xf32>
// CHECK-NEXT: %6 = "top.Cos"(%3){{.*}}-> tensor<1x3x2x2x2x8xf32>
// CHECK-NEXT: return %5, %6
