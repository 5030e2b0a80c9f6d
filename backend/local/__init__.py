"""Groups of ops that work from local memory: kernels on slices, transfers, their pipeline."""
