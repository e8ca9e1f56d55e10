"""What can be seen of a training without looking at every operation: optimizers, backwards, steps, cleared gradients.

One file for each kind of fault that shows there; `form` says what a detector is told, `hooks` is what tells it.
"""
