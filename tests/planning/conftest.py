"""Lets the tests in folders below import what lies here, such as `cases`."""
