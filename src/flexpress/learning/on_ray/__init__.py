"""Clients trained on many machines: any learner, sharded over the workers of a Ray cluster."""

from flexpress.learning.on_ray.learner import RayLearner

__all__ = ["RayLearner"]
