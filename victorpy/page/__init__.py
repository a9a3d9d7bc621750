"""Convert the bytes of a page to a Document: decode, parse and split."""
