"""From bytes to a Document: decoding, parsing and splitting."""
