"""From bytes to a Document: decoding, parsing, splitting, annotation files, and a page as a tree."""
