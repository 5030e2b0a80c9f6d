// RUN: tpu-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Every message a tile op or buffer can be refused with.

tile.program core 0 {
  %x = tile.alloc 0 at 0 : !tile.buffer<1x3x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>
}
// CHECK: a buffer has 4 dimensions, not 3

// -----

tile.program core 0 {
  %x = tile.alloc 0 at 0 : !tile.buffer<1x3x8x8xf16, aligned, [0, 0, 0] of [1, 3, 1, 8, 8]>
}
// CHECK: start and sizes of the whole are 5 numbers each

// -----

tile.program core 0 {
  %x = tile.alloc 0 at 0 : !tile.buffer<1x3x8x8xf16, dense, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>
}
// CHECK: layout 'dense' is none of aligned, compact

// -----

tile.program core 0 {
  %x = tile.alloc 0 at 0 : !tile.buffer<1x3x8x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8], column>
}
// CHECK: form 'column' is none of plain, row, merged, coefficients

// -----

tile.program core 0 {
  %x = tile.alloc 0 at 0 : !tile.buffer<3x3x8x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8], depth 2>
}
// CHECK: 3 images and depths are no multiple of depth 2

// -----

tile.program core 0 {
  %x = tile.alloc 0 at 0 : f16
}
// CHECK: expected a !tile.buffer, got f16

// -----

tile.program core 0 {
  tile.load 0 to %x slice 0 step 0 on gdma
}
// CHECK: %x is not allocated before it

// -----

tile.program core 0 {
  %x = tile.alloc 0 at 0 : !tile.buffer<1x3x8x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>
  tile.load 0 to %x slice 0 step 0 on tiu
}
// CHECK: gdma

// -----

tile.program core 0 {
  %x = tile.alloc 0 at 0 : !tile.buffer<1x3x8x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>
  tile.load 0 to %x slice 1 step 4 on gdma
  tile.load 0 to %x slice 0 step 2 on gdma
}
// CHECK: a tile.load of step 2 stands behind step 4

// -----

tile.program core 0 {
  %x = tile.alloc 0 at 0 : !tile.buffer<1x3x8x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>
  tile.load 0 to %x slice 1 step 4 on gdma taps [1] [2]
}
// CHECK: taps are 11 numbers each for rows and columns

// -----

tile.program core 0 {
  %x = tile.alloc 0 at 0 : !tile.buffer<1x3x8x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>
  tile.store 0 from %x [0, 0] slice 0 step 0 on gdma
}
// CHECK: start has 2 numbers, not 5

// -----

tile.program core 0 {
  %x = tile.alloc 0 at 0 : !tile.buffer<1x3x8x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>
  tile.store 0 from %x [0, 0, 0, 0, 0] slice 0 step 0 on gdma free [64, 0]
}
// CHECK: free is [64, 0], which are no pairs of first and last byte

// -----

"tile.program"() ({
  "tile.load"() {id = 0 : i64, slice = 0 : i64, step = 0 : i64} : () -> ()
}) {core = 0 : i64} : () -> ()
// CHECK: a load has no buffer

// -----

"tile.program"() ({
  %x = "tile.alloc"() {address = 0 : i64, id = 0 : i64} : () -> !tile.buffer<1x3x8x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>
  "tile.compute"(%x, %x) {absent = [4], free = [], id = 0 : i64, kind = "tpu.Relu", own = [], slice = 0 : i64, step = 0 : i64} : (!tile.buffer<1x3x8x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>, !tile.buffer<1x3x8x8xf16, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8]>) -> ()
}) {core = 0 : i64} : () -> ()
// CHECK: of 2 operands [4] are said to be absent

// -----

tile.program core 0 {
  %n = "top.None"() : () -> none
}
// CHECK: top.None in a tile.program
