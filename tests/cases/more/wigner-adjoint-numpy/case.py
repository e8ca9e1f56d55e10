import numpy as np
import torch


def pauli():
    x = torch.tensor([[0, 1], [1, 0]], dtype=torch.complex64)
    y = torch.tensor([[0, -1j], [1j, 0]], dtype=torch.complex64)
    return {"x": x, "y": y}


class Gate:
    def __init__(self, matrix, label):
        self.matrix, self.label = matrix, label

    @property
    def dagger(self):
        return Gate(self.matrix.conj().T, self.label + "+")

    def to_array(self):
        return self.matrix.numpy()

    def __matmul__(self, other):
        return Gate(self.matrix @ other.matrix, self.label + other.label)


gates = [Gate(m, k) for k, m in pauli().items()]
for g in gates:
    print(g.label, np.allclose((g @ g.dagger).to_array(), np.eye(2)))
    print(g.dagger.to_array())
