"""Statistics and style trees of the pages of one site."""
