"""What each op computes, one module per family: tables from op classes to rules."""
