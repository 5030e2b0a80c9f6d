// RUN: tpu-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s
// RUN: not tpu-opt %s 2>&1 | filecheck %s --check-prefix=FIRST
// RUN: not tpu-opt --canonicalise 2>&1 | filecheck %s --check-prefix=NEAR
// RUN: not tpu-opt %s -p 'cse{x=1}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not tpu-opt %s.none 2>&1 | filecheck %s --check-prefix=MISSING

// FIRST: error: {{.*}}tpu_opt_errors.mlir:19:12:
// FIRST-NOT: Traceback
// NEAR: error: unknown option or pass '--canonicalise'; did you mean '--canonicalize'
// OPTION: error: pass 'cse' has no option 'x' (it has none)
// MISSING: error: {{.*}}tpu_opt_errors.mlir.none: no such file or directory

// Every part is tried, whatever becomes of those before it.

// CHECK: tpu_opt_errors.mlir:19:12:
// CHECK-SAME: Operation foo.bar is not registered
module {

  "foo.bar"() : () -> ()
}

// -----

// CHECK: // -----
// CHECK-NEXT: the input is wrong: 'top.Relu': Expected 1 operand, but got 0
module {
  "top.Relu"() : () -> ()
}

// -----

// CHECK: // -----
// CHECK-NEXT: tpu_opt_errors.mlir:36:43:
// CHECK-SAME: undefined symbol alias '#loc1'
module {
  %0 = "top.None"() : () -> none loc(#loc1)
}

// -----

// CHECK: // -----
// CHECK: %0 = "top.None"() : () -> none
module {
  %0 = "top.None"() : () -> none
}
