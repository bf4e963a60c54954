"""Tests of the bridges to other frameworks. Each file is skipped if its framework is not installed."""
