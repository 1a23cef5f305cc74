"""The formats of other programs: what people exported from them, as memories."""
