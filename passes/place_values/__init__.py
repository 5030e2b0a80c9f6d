"""Which images and channels values are seen as in local memory, decided before layer groups."""
