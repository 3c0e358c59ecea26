"""The paper's experiments as data: figures, the runs they need, the claims they support."""
