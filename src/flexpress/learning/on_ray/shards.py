"""Jobs in shards, which fix the result, and shards in bundles, which only save messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flexpress.learning.job import Job

LARGEST_BUNDLE = 200
"""Local steps in one call: nobody waits long for the last one, or for a stop."""

BUNDLES_PER_WORKER = 4
"""At least, if there are enough shards: so that workers end at about the same time."""


def even_parts(group: Sequence[Job], size: int) -> list[Sequence[Job]]:
    """As few as can be of at most `size` neighbours, as equal as can be; of the group alone."""
    num_parts = -(-len(group) // size)
    cuts = [len(group) * i // num_parts for i in range(num_parts + 1)]
    return [group[cuts[i] : cuts[i + 1]] for i in range(num_parts)]


def bundles(
    shards: Sequence[Sequence[Job]], num_workers: int, most: int
) -> Iterator[Sequence[Sequence[Job]]]:
    """Neighbours, at most so many, of about equal numbers of steps."""
    steps = [sum(job.num_steps for job in shard) for shard in shards]
    enough = min(LARGEST_BUNDLE, sum(steps) / (BUNDLES_PER_WORKER * num_workers))
    start, weight = 0, 0
    for end, its in enumerate(steps, start=1):
        weight += its
        if weight >= enough or end - start == most or end == len(steps):
            yield shards[start:end]
            start, weight = end, 0
