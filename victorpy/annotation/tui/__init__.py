"""The screens of the annotation tool."""
