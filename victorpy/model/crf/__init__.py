"""A conditional random field: trained by crfsuite, run from tables of its weights."""
