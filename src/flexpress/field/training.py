"""What a client must know to train: settings that lie in its kit as JSON, and its own samples."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from flexpress.errors import InputError
from flexpress.files.disk import open_file, write_file
from flexpress.learning import Dataset, Engine, Learner, Task
from flexpress.learning.datasets import check_samples
from flexpress.learning.job import first_model
from flexpress.learning.user_code import call_function, import_function
from flexpress.planning import Plan
from flexpress.scenario import Scenario
from flexpress.simulation.run_names import head_start_of
from flexpress.simulation.timetable import Timetable

SAMPLES = "data.npz"
"""The file of a kit that holds `images` and `labels`."""

MissionClock = Literal["plan", "wall"]
"""Local steps as the timetable has them, or one for each slot of real time."""

_Whole = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_Count = Annotated[int, Meta(ge=1, le=2**63 - 1)]
_Positive = Annotated[float, Meta(gt=0)]


class Training(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one client trains. Equal settings and samples give equal updates, bit for bit."""

    client: int | str  # its id in the scenario
    number: _Whole  # its row in the scenario: mini-batches are drawn by it
    model: str  # lenet, mlp, logistic, or the user's own "module:function"
    engine: Engine
    num_params: _Count
    dtype: Literal["float32", "float64"]  # of the parameters
    image: tuple[_Count, _Count, _Count]  # channels, height, width
    pixels: Literal["uint8", "float32"]  # of the images
    num_classes: _Count
    scale: tuple[float, ...]  # of each channel: the net sees image * scale + shift
    shift: tuple[float, ...]
    learning_rate: _Positive  # eta
    batch_size: _Count
    seed: _Whole
    head_start: Annotated[float, Meta(ge=0, le=1)]  # gamma
    preloaded: bool  # x^0 is on board, and it trains before the first visit
    clock: MissionClock
    slot: _Positive  # seconds
    ticks_per_slot: _Count
    period: _Count  # ticks from one departure of its courier to the next
    offset: _Whole  # ticks from departure to the visit
    speedup: _Positive = 1.0  # of the wall clock
    samples: str = SAMPLES  # or the user's own "module:function", which returns images, labels


def trainings(
    scenario: Scenario,
    plan: Plan,
    task: Task,
    learner: Learner,
    *,
    clock: MissionClock = "plan",
    speedup: float = 1.0,
    engine: Engine = "auto",
) -> dict[int | str, Training]:
    """Of every client that the plan visits; `task` and `learner` are those of the scenario."""
    timetable = Timetable.of(scenario, plan, scenario.run.algorithm)
    if not timetable.flies:
        raise InputError('run.algorithm = "direct": has no couriers; use sync or async')
    shared = _shared(scenario, timetable, task, learner)
    numbers = dict(zip(task.client_ids, task.draw_numbers(), strict=True))
    met = [
        (client, convoy.period, offset)
        for convoy in timetable.convoys
        for route in convoy.routes
        for client, offset in zip(route.clients, route.offsets, strict=True)
    ]
    return {
        client: Training(
            client=client,
            number=numbers[client],
            engine=engine,
            clock=clock,
            period=period,
            offset=offset,
            speedup=speedup,
            **shared,
        )
        for client, period, offset in met
    }


def _shared(
    scenario: Scenario, timetable: Timetable, task: Task, learner: Learner
) -> dict[str, Any]:
    """The settings that all clients have in common, by their names in `Training`."""
    data, model = task.dataset, first_model(learner)
    return {
        "model": scenario.learning.model,
        "num_params": model.size,
        "dtype": "float32" if model.dtype == np.float32 else "float64",
        "image": data.image,
        "pixels": "uint8" if data.train_images.dtype == np.uint8 else "float32",
        "num_classes": data.num_classes,
        "scale": tuple(data.scale.tolist()),
        "shift": tuple(data.shift.tolist()),
        "learning_rate": task.learning_rate,
        "batch_size": task.batch_size,
        "seed": task.seed,
        "head_start": head_start_of(scenario),
        "preloaded": timetable.preloaded,
        "slot": timetable.slot,
        "ticks_per_slot": timetable.ticks_per_slot,
    }


def training_to_json(training: Training) -> bytes:
    """For a kit, to be read by people too."""
    return msgspec.json.format(msgspec.json.encode(training), indent=2) + b"\n"


def training_from_json(content: bytes, source: str) -> Training:
    """InputError, which names the source, unless it is a Training."""
    try:
        return msgspec.json.decode(content, type=Training)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        text = " ".join(str(error).split())[:200]
        raise InputError(f"{source}: not the settings of a client: {text}") from None


def write_samples(path: Path, task: Task, client: int | str) -> None:
    """The client's own samples, in the order of its shard."""
    own = task.only(client).dataset
    write_file(path, lambda file: np.savez(file, images=own.train_images, labels=own.train_labels))


def load_samples(training: Training, folder: Path) -> Dataset:
    """The client's samples, out of its kit or from the user's own function."""
    if training.samples == SAMPLES:
        path = folder / SAMPLES
        return own_dataset(training, *_read_samples(path), source=str(path))
    function = import_function("samples", training.samples, [SAMPLES])
    result: Any = call_function("samples", training.samples, function)
    try:
        images, labels = result
    except (TypeError, ValueError):
        raise InputError(
            f'samples = "{training.samples}": returned no pair: must return images, labels'
        ) from None
    return own_dataset(training, images, labels, source=f'samples = "{training.samples}"')


def own_dataset(training: Training, images: Any, labels: Any, *, source: str) -> Dataset:
    """The samples as a data set, normalised as the mission says; InputError if they do not fit."""
    try:
        checked = check_samples((images, labels), "training")
        _check_fit(training, *checked)
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None
    scale, shift = (np.array(each, np.float32) for each in (training.scale, training.shift))
    return Dataset(source, *checked, *checked, training.num_classes, scale, shift)


def _check_fit(training: Training, images: NDArray[Any], labels: NDArray[Any]) -> None:
    """ValueError if a net of this mission cannot be trained on them."""
    if images.shape[1:] != training.image:
        text = f"images of shape {images.shape[1:]} (channels, height, width)"
        raise ValueError(f"{text}: must be {training.image}, as all of this mission")
    if images.dtype != training.pixels:
        raise ValueError(
            f"images of {images.dtype}: must be {training.pixels}, since scale and shift are for it"
        )
    if labels.max() >= training.num_classes:
        raise ValueError(f"label {labels.max()}: must be 0 to {training.num_classes - 1}")
    if len(images) < training.batch_size:
        raise ValueError(
            f"{len(images)} samples: must be at least {training.batch_size}, the batch size"
        )


def _read_samples(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        with open_file(path) as file, np.load(file, allow_pickle=False) as content:
            return content["images"], content["labels"]
    except (ValueError, KeyError, OSError, EOFError, TypeError, zipfile.BadZipFile):
        raise InputError(
            f"{path}: not a file of samples; write one with "
            "numpy.savez(file, images=images, labels=labels)"
        ) from None
