"""Local SGD of small convolutional nets in compiled code, without torch."""

from flexpress.learning.fast.learner import FastLearner

__all__ = ["FastLearner"]
