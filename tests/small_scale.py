"""How much of the paper `small_flexpress.py` reproduces."""

from flexpress.experiments.setting import Scale

SMALL = Scale("quick", seeds=2, horizon=40, eval_every=10, stand_in=True)
