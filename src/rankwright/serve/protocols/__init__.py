"""The protocols that clients speak: our own, Open Inference, MLflow and numpy's format."""
