// RUN: sed s/262144/16384/ %S/../../../backend/chip/bm1684x.toml > %t.16k.toml
// RUN: tpu-opt %s --subnet-divide --layer-group="chip=%t.16k.toml explain=true explain_file=%t.json" --verify-layer-groups="chip=%t.16k.toml" 2>%t.slow | filecheck %s --check-prefix=TWO
// RUN: filecheck %s --check-prefix=SLOW --input-file %t.slow
// RUN: filecheck %s --check-prefix=JSON --input-file %t.json
// RUN: tpu-opt %s --subnet-divide --layer-group="opt=1 chip=%t.16k.toml" --verify-layer-groups="chip=%t.16k.toml" | filecheck %s --check-prefix=ONE
// RUN: tpu-opt %s --subnet-divide --layer-group="explain=true" 2>%t.none | filecheck %s --check-prefix=ONE
// RUN: filecheck %s --check-prefix=NONE --input-file %t.none

// With 16384 bytes per lane both convolutions fit into one group, whose slices are so thin that it is
// faster to have only the first in one; the longest group is not the fastest.
// TWO: "tpu.Group"
// TWO: "tpu.Conv2D"
// TWO: "tpu.Yield"
// TWO-NOT: "tpu.Group"
// TWO: "tpu.Conv2D"
// SLOW: 1 boundaries: 0 no local form, 0 shape rule, 0 local memory, 1 not worth it
// SLOW-NEXT: group of 1 op 'a' (tpu.Conv2D) | 'b' (tpu.Conv2D): not worth it by {{[1-9][0-9]*}} cycles: the best group over it, 'a' .. 'b' in {{[0-9]+}} slices, gives that away
// JSON: "reason": "not worth it by {{[1-9][0-9]*}} cycles: the best group over it, 'a' .. 'b' in {{[0-9]+}} slices, gives that away"
// ONE: "tpu.Group"
// ONE: "tpu.Conv2D"
// ONE: "tpu.Conv2D"
// ONE-NOT: "tpu.Group"
// NONE: 0 boundaries: 0 no local form, 0 shape rule, 0 local memory, 0 not worth it
module @net attributes {module.state = "TPU_REORDERED", module.chip = "bm1684x"} {
  func.func @main(%arg0: tensor<1x640x24x24xf16>) -> tensor<1x256x24x24xf16> {
    %0 = "top.Input"(%arg0) : (tensor<1x640x24x24xf16>) -> tensor<1x640x24x24xf16> loc("x")
    %1 = "top.Weight"() : () -> tensor<1x512x1x640xf16> loc("af")
    %2 = "top.Weight"() : () -> tensor<1x512x1x1xf32> loc("ab")
    %3 = "tpu.Conv2D"(%0, %1, %2) {group = 1 : i64, kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], weight_is_coeff = 1 : i64, with_bias = true} : (tensor<1x640x24x24xf16>, tensor<1x512x1x640xf16>, tensor<1x512x1x1xf32>) -> tensor<1x512x24x24xf16> loc("a")
    %4 = "top.Weight"() : () -> tensor<1x256x1x512xf16> loc("bf")
    %5 = "top.Weight"() : () -> tensor<1x256x1x1xf32> loc("bb")
    %6 = "tpu.Conv2D"(%3, %4, %5) {group = 1 : i64, kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1], weight_is_coeff = 1 : i64, with_bias = true} : (tensor<1x512x24x24xf16>, tensor<1x256x1x512xf16>, tensor<1x256x1x1xf32>) -> tensor<1x256x24x24xf16> loc("b")
    return %6 : tensor<1x256x24x24xf16>
  }
}
