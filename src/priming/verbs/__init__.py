"""The verbs of the library, each declared once: a function with its docstring, and a row."""
