// RUN: tpu-opt %s | filecheck %s
// RUN: tpu-opt %s --print-op-generic | tpu-opt | filecheck %s
// RUN: tpu-opt %s | xdsl-opt | filecheck %s

// Every form a buffer can have, every word that can be left out, absent operands.
// CHECK: tile.program core 1 {
// CHECK-NEXT: [[X:%[0-9]+]] = tile.alloc 0 at 0 : !tile.buffer<2x3x4x8xf16, aligned, [0, 0, 0, 4, 0] of [1, 3, 2, 8, 8], depth 2>
// CHECK-NEXT: [[W:%[0-9]+]] = tile.alloc 1 at 512 : !tile.buffer<1x64x1x27xbf16, compact, [0, 0, 0, 0, 0] of [1, 1, 1, 1, 27], row>
// CHECK-NEXT: [[T:%[0-9]+]] = tile.alloc 2 at 640 : !tile.buffer<1x9x4x8xui8, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8], merged>
// CHECK-NEXT: [[Y:%[0-9]+]] = tile.alloc 3 at 704 : !tile.buffer<1x3x4x8xf32, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8], coefficients>
// CHECK-NEXT: tile.load 0 to [[X]], [[W]] slice 0 step 0 on gdma
// CHECK-NEXT: tile.load 2 to [[T]] slice 0 step 0 on gdma taps [-1, 1, 1, 3, 4, 1, 1, 0, 0, 1, 0] [0, 1, 1, 1, 8, 1, 1, 0, 0, 1, 0]
// CHECK-NEXT: tile.compute 3 tpu.Conv2D([[X]], none, [[W]], none) to [[Y]] slice 1 step 1 on tiu own [0, 64] free [1024, 2048] [4096, 8192]
// CHECK-NEXT: tile.compute 3 tpu.Relu([[X]]) to [[Y]] slice 1 step 1 on tiu
// CHECK-NEXT: tile.store 4 from [[Y]] [0, 0, 0, 0, 0] slice 1 step 2 on gdma
// CHECK-NEXT: }
func.func @f() {
  tile.program core 1 {
    %x = tile.alloc 0 at 0 : !tile.buffer<2x3x4x8xf16, aligned, [0, 0, 0, 4, 0] of [1, 3, 2, 8, 8], depth 2>
    %w = tile.alloc 1 at 512 : !tile.buffer<1x64x1x27xbf16, compact, [0, 0, 0, 0, 0] of [1, 1, 1, 1, 27], row>
    %t = tile.alloc 2 at 640 : !tile.buffer<1x9x4x8xui8, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8], merged>
    %y = tile.alloc 3 at 704 : !tile.buffer<1x3x4x8xf32, aligned, [0, 0, 0, 0, 0] of [1, 3, 1, 8, 8], coefficients>
    tile.load 0 to %x, %w slice 0 step 0 on gdma
    tile.load 2 to %t slice 0 step 0 on gdma taps [-1, 1, 1, 3, 4, 1, 1, 0, 0, 1, 0] [0, 1, 1, 1, 8, 1, 1, 0, 0, 1, 0]
    tile.compute 3 tpu.Conv2D(%x, none, %w, none) to %y slice 1 step 1 on tiu own [0, 64] free [1024, 2048] [4096, 8192]
    tile.compute 3 tpu.Relu(%x) to %y slice 1 step 1 on tiu
    tile.store 4 from %y [0, 0, 0, 0, 0] slice 1 step 2 on gdma
  }
  return
}
