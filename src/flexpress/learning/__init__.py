"""What clients learn: data, partitions, models, and learners that turn jobs into updates."""

from flexpress.learning.datasets import Dataset
from flexpress.learning.engines import Engine, make_learner
from flexpress.learning.job import Job, Learner, Metrics, Vector
from flexpress.learning.quadratic_learner import Quadratic
from flexpress.learning.task import Task, make_task
from flexpress.learning.training_loss import TrainingLoss

__all__ = [
    "Dataset",
    "Engine",
    "Job",
    "Learner",
    "Metrics",
    "Quadratic",
    "Task",
    "TrainingLoss",
    "Vector",
    "make_learner",
    "make_task",
]
