"""How much of the paper `small_flexpress.py` reproduces."""

from flexpress.experiments.protocol import Scale

SMALL = Scale(
    "quick",
    networks=2,
    seeds=1,
    horizon={"fmnist": 40, "svhn": 40},
    eval_every=10,
    stand_in=True,
    distances=(3.0,),
    rates=(0.01, 0.05),
    server_rates=(0.05,),
)
