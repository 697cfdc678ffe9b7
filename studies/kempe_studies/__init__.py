"""Comparisons of Kempe with other methods and libraries: part of its repository, not of the package
that users install."""
