"""`convert-oneflow-to-top`: a OneFlow job becomes a function of `top` ops; one file per family."""
