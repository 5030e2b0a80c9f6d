// RUN: tpu-opt %s --processor-assign="chip=bm1684x mode=F16" | filecheck %s
// RUN: tpu-opt %s -p 'processor-assign{chip="bm1684x" mode="BF16" high_precision=true}' | filecheck %s --check-prefix=BF16
// RUN: tpu-opt %s --processor-assign="chip=cv180x mode=F16" --verify-diagnostics | filecheck %s --check-prefix=CHIP
// RUN: tpu-opt %s --processor-assign="chip=bm1684x mode=F16 num_core=2" --verify-diagnostics | filecheck %s --check-prefix=CORES
// RUN: tpu-opt %s --processor-assign="chip=bm1684x mode=W4F16" | filecheck %s --check-prefix=PACKED

// The chip and the number format are attributes of the module, in the order of their names.
// CHECK: module @m attributes {module.addr_mode = "basic", module.chip = "bm1684x",
// CHECK-SAME: module.cores = 1 : i64, module.devices = 1 : i64,
// CHECK-SAME: module.high_precision = false, module.mode = "F16", module.state = "TOP_F32"}
// BF16: module.high_precision = true, module.mode = "BF16"
// PACKED: module.mode = "W4F16"
// CHIP: no chip 'cv180x': give one of bm1684x
// CORES: processor-assign: 2 cores are wanted of BM1684X, which has 1
module @m attributes {module.chip = "ALL", module.state = "TOP_F32"} {
}
