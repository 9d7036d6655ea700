"""Mutation tests: do the tests notice when the package is changed?"""
