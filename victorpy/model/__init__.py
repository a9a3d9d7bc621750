"""The trainable model: features, templates, trees, CRF, the labeller that combines them, training and storage."""
