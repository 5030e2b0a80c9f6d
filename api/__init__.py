"""The Python interface, `import xdsl_tpu as xt`: programs, their runs and reports (docs/api.md)."""
