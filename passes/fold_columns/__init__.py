"""Columns as channels: which values, by which factor, and the filters that go with it."""
