"""After an exception: which law of autograd was broken, by which tensor, and how it came to that."""
