"""The commands of the loop, in its own form and in that of Arc."""
