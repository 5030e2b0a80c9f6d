// RUN: tpu-opt %s --subnet-divide --layer-group="explain=true" --verify-layer-groups 2>%t | filecheck %s
// RUN: filecheck %s --check-prefix=WHY --input-file %t
// RUN: tpu-opt %s --subnet-divide --layer-group="opt=1 lgcache=true group_by_cores=auto" 2>%t | filecheck %s
// RUN: filecheck %s --check-prefix=NOTE --input-file %t
// RUN: tpu-opt %s --subnet-divide --layer-group="opt=0" | filecheck %s --check-prefix=NONE
// RUN: not tpu-opt %s --subnet-divide --layer-group="compress_mode=activation" 2>&1 | filecheck %s --check-prefix=BAD

// NOTE: note: layer-group: no effect: group_by_cores (the chip has one core)
// NOTE-NEXT: note: layer-group: no effect: lgcache (the search keeps no cache: every compilation searches)

// The permute moves data across lanes, so it stands between two groups.
// CHECK: func.func @subfunc_0
// CHECK: "tpu.Group"(%arg0) ({
// CHECK-NEXT: "tpu.Load"(%arg0)
// CHECK-SAME: eu_align = true
// CHECK-NEXT: "tpu.Relu"
// CHECK-NEXT: "tpu.Add"
// CHECK-NEXT: "tpu.Store"
// CHECK-NEXT: "tpu.Yield"
// CHECK-NEXT: flow = [-1, 0, -2, 1, -3, 2, -4, 3]
// CHECK: "tpu.Permute"
// CHECK: "tpu.Group"
// CHECK: "tpu.Relu"
// CHECK: "tpu.Add"
// WHY: 2 boundaries: 2 no local form
// WHY-NEXT: group of 2 ops 'a' .. 'b' | 'p' (tpu.Permute): no local form
// WHY-NEXT: 'p' (tpu.Permute) | group of 2 ops 'c' .. 'd': no local form
// NONE-NOT: tpu.Group
// BAD: layer-group: compress_mode=activation
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x64x8x16xf16>) -> tensor<1x64x16x8xf16> {
    %n = "top.None"() : () -> none
    %0 = "top.Input"(%arg0) : (tensor<1x64x8x16xf16>) -> tensor<1x64x8x16xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x64x8x16xf16>) -> tensor<1x64x8x16xf16> loc("a")
    %2 = "tpu.Add"(%1, %0) : (tensor<1x64x8x16xf16>, tensor<1x64x8x16xf16>) -> tensor<1x64x8x16xf16> loc("b")
    %3 = "tpu.Permute"(%2, %n) {order = [0, 1, 3, 2]} : (tensor<1x64x8x16xf16>, none) -> tensor<1x64x16x8xf16> loc("p")
    %4 = "tpu.Relu"(%3) : (tensor<1x64x16x8xf16>) -> tensor<1x64x16x8xf16> loc("c")
    %5 = "tpu.Add"(%4, %3) : (tensor<1x64x16x8xf16>, tensor<1x64x16x8xf16>) -> tensor<1x64x16x8xf16> loc("d")
    return %5 : tensor<1x64x16x8xf16>
  }
}
