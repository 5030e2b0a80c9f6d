"""Blocks of an image's rows as channels: which values, in how many, and the ops that go with it."""
