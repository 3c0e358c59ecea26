"""What clients learn: data, partitions, models, and learners that turn jobs into updates."""

from flexpress.learning.job import Job, Learner, Metrics, Vector

__all__ = ["Job", "Learner", "Metrics", "Vector"]
