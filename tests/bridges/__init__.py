"""Bridges to other frameworks: each file is skipped where its framework is not installed."""
