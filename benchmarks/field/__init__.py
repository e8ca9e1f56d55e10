"""Any checker, run over small PyTorch programs of which the one mistake is known."""
