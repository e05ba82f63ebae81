"""How good: measures by group, significance, run files, tables and figures."""
