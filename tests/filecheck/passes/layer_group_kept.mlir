// RUN: tpu-opt %s --subnet-divide --layer-group --address-assign --verify-layer-groups | filecheck %s
// RUN: tpu-opt %s --subnet-divide --layer-group --address-assign --lower-to-tile --verify-tile-programs | filecheck %s --check-prefix=TILE
// RUN: tpu-opt %s --subnet-divide --layer-group="keep=false" --address-assign --verify-layer-groups | filecheck %s --check-prefix=NONE

// All of y must be there before its mean is known. It stays in 96 KiB of every lane, to which the first
// group copies its slices and from which the last one does; the group between leaves them alone.
// CHECK: "tpu.Group"
// CHECK: "tpu.Store"({{.*}}kept = 163840 : i64, only_kept = true{{.*}}loc("y")
// CHECK: "tpu.Group"
// CHECK: "tpu.Active"
// CHECK: kept = [{{.*}}163840, 262144]
// CHECK: "tpu.Group"
// CHECK: "tpu.Load"({{.*}}kept = 163840 : i64{{.*}}loc("load_y")
// CHECK: kept = [{{.*}}163840, 262144]
// TILE: tile.store {{.*}} slice 0 step {{[0-9]+}} on tiu kept 163840
// TILE: tile.load {{.*}} slice 0 step {{[0-9]+}} on tiu kept 163840
// NONE-NOT: kept
module @case attributes {module.chip = "bm1684x", module.mode = "F16", module.state = "TPU_REORDERED"} {
  func.func @main(%arg0: tensor<1x64x256x192xf16> loc(unknown)) -> tensor<1x64x256x192xf16> {
    %0 = "top.None"() : () -> none loc(unknown)
    %1 = "top.Input"(%arg0) : (tensor<1x64x256x192xf16>) -> tensor<1x64x256x192xf16> loc("x")
    %2 = "tpu.Active"(%1) {mode = #tpu<active_mode SIGMOID>} : (tensor<1x64x256x192xf16>) -> tensor<1x64x256x192xf16> loc("a")
    %3 = "tpu.Add"(%2, %1) : (tensor<1x64x256x192xf16>, tensor<1x64x256x192xf16>) -> tensor<1x64x256x192xf16> loc("y")
    %4 = "tpu.Reduce"(%3, %0, %0) {axes = [3], keepdims = true, mode = "ReduceMean"} : (tensor<1x64x256x192xf16>, none, none) -> tensor<1x64x256x1xf16> loc("r")
    %5 = "tpu.Reduce"(%4, %0, %0) {axes = [2], keepdims = true, mode = "ReduceMean"} : (tensor<1x64x256x1xf16>, none, none) -> tensor<1x64x1x1xf16> loc("m")
    %6 = "tpu.Active"(%5) {mode = #tpu<active_mode SIGMOID>} : (tensor<1x64x1x1xf16>) -> tensor<1x64x1x1xf16> loc("g")
    %7 = "tpu.Mul"(%3, %6) : (tensor<1x64x256x192xf16>, tensor<1x64x1x1xf16>) -> tensor<1x64x256x192xf16> loc("z")
    %8 = "tpu.Add"(%7, %3) : (tensor<1x64x256x192xf16>, tensor<1x64x256x192xf16>) -> tensor<1x64x256x192xf16> loc("o")
    return %8 : tensor<1x64x256x192xf16> loc(unknown)
  } loc(unknown)
} loc(unknown)
