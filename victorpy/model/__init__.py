"""The trainable model: encoding, templates, trees, the CRF, the labeller that joins them, training and storage."""
