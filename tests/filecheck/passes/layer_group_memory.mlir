// RUN: sed s/262144/8192/ %S/../../../backend/chip/bm1684x.toml > %t.toml
// RUN: tpu-opt %s --subnet-divide --layer-group="opt=1 chip=%t.toml explain=true" --verify-layer-groups="chip=%t.toml" 2>%t.why | filecheck %s --check-prefix=TWO
// RUN: filecheck %s --check-prefix=WHY --input-file %t.why
// RUN: tpu-opt %s --subnet-divide --layer-group="opt=2 chip=%t.toml explain=true" 2>&1 >/dev/null | filecheck %s --check-prefix=PAIR
// RUN: tpu-opt %s --subnet-divide --layer-group="opt=1" --verify-layer-groups | filecheck %s --check-prefix=ONE
// RUN: sed s/262144/16384/ %S/../../../backend/chip/bm1684x.toml > %t.more.toml
// RUN: tpu-opt %s --subnet-divide --layer-group="opt=1 chip=%t.more.toml" | filecheck %s --check-prefix=ONE

// Each value takes 3072 bytes per lane, and the shift along the rows cannot be cut. With 8192 bytes
// the longest group that ends in 'e' does not hold all ops; with 16384 one does.
// TWO: "tpu.Group"
// TWO: "tpu.Group"
// TWO-NOT: "tpu.Group"
// WHY: group of 2 ops 'a' .. 'b' | group of 3 ops 'c' .. 'e': local memory, over by 4096 bytes per lane
// Not even the two ops there fit, whatever the others do; in slices they cannot be cut.
// PAIR: group of 2 ops 'a' .. 'b' | group of 3 ops 'c' .. 'e': local memory, over by 1024 bytes per lane
// ONE: "tpu.Group"(%arg0) ({
// ONE: "tpu.Relu"
// ONE: "tpu.Add"
// ONE: "tpu.Add"
// ONE: "tpu.Add"
// ONE-NOT: "tpu.Group"
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x64x24x64xf16>) -> tensor<1x64x24x64xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x64x24x64xf16>) -> tensor<1x64x24x64xf16> loc("x")
    %1 = "tpu.Relu"(%0) : (tensor<1x64x24x64xf16>) -> tensor<1x64x24x64xf16> loc("a")
    %2 = "tpu.SwapDimInner"(%1) {offset = [0, 0, 4, 0]} : (tensor<1x64x24x64xf16>) -> tensor<1x64x24x64xf16> loc("b")
    %3 = "tpu.Add"(%2, %0) : (tensor<1x64x24x64xf16>, tensor<1x64x24x64xf16>) -> tensor<1x64x24x64xf16> loc("c")
    %4 = "tpu.Add"(%3, %1) : (tensor<1x64x24x64xf16>, tensor<1x64x24x64xf16>) -> tensor<1x64x24x64xf16> loc("d")
    %5 = "tpu.Add"(%4, %2) : (tensor<1x64x24x64xf16>, tensor<1x64x24x64xf16>) -> tensor<1x64x24x64xf16> loc("e")
    return %5 : tensor<1x64x24x64xf16>
  }
}
