"""What a program did, on torch: the lowest floor that may import it.

Nothing here imports torch by itself. A program decides when torch is imported, and what its environment says by then;
what is needed of it is taken from `sys.modules` afterwards (`torch_compat`).
"""
