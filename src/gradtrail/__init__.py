"""gradtrail finds, explains and repairs autograd mistakes in PyTorch programs."""

__version__ = "0.1.0"
