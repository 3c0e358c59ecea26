"""dataset = "my_module:load": what is taken, and what is said of every mistake."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flexpress.errors import InputError
from flexpress.learning import Dataset
from flexpress.learning.datasets import load_dataset
from flexpress.scenario import LearningSettings

Load = Callable[[str], Dataset]

GOOD = """
import numpy as np
rng = np.random.default_rng(1)
def samples(n):
    return rng.normal(5.0, 3.0, (n, 3, 4, 5)), np.arange(n) % 4
def load():
    return samples(40), samples(12)
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Puts the text into my_data.py and loads "my_data:load"."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def load_text(text: str) -> Dataset:
        (tmp_path / "my_data.py").write_text(text)
        sys.modules.pop("my_data", None)
        return load_dataset(LearningSettings(dataset="my_data:load"))

    return load_text


def test_floats_are_normalised_by_channel(load: Load) -> None:
    data = load(GOOD)
    assert data.image == (3, 4, 5)
    assert data.num_classes == 4
    assert data.train_images.dtype == np.float32
    seen = data.train_images * data.scale[:, None, None] + data.shift[:, None, None]
    assert np.allclose(seen.mean(axis=(0, 2, 3)), 0, atol=1e-6)
    assert np.allclose(seen.std(axis=(0, 2, 3)), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("shape", "image"), [("n, 6", (1, 1, 6)), ("n, 4, 6", (1, 4, 6)), ("n, 2, 4, 6", (2, 4, 6))]
)
def test_shapes(load: Load, shape: str, image: tuple[int, int, int]) -> None:
    data = load(GOOD.replace("n, 3, 4, 5", shape))
    assert data.image == image
    assert data.train_images.flags.c_contiguous
    assert data.train_images.shape[1:] == data.test_images.shape[1:] == image


def test_bytes_count_as_0_to_1_and_constant_channels_stay(load: Load) -> None:
    text = GOOD.replace("rng.normal(5.0, 3.0, (n, 3, 4, 5))", "make(n)") + (
        "def make(n):\n"
        "    images = rng.integers(0, 256, (n, 3, 4, 5)).astype(np.uint8)\n"
        "    images[:, 1] = 51\n"
        "    return images\n"
    )
    data = load(text)
    assert data.train_images.dtype == np.uint8
    assert data.scale[1] == np.float32(1 / 255)
    assert data.shift[1] == np.float32(-0.2)
    pixels = data.train_images[:, 2] / 255
    assert data.scale[2] == pytest.approx(1 / (255 * pixels.std()), rel=1e-6)


def test_a_far_offset_costs_no_precision(load: Load) -> None:
    data = load(GOOD.replace("rng.normal(5.0,", "rng.normal(30000.0,"))
    expected = 1 / data.train_images.astype(np.float64).std(axis=(0, 2, 3))
    assert np.allclose(data.scale, expected, rtol=1e-6)


MISTAKES = {
    "np.arange(n) % 4": {
        "np.arange(n) % 4 - 1": "label -1: must be 0",
        "np.arange(n) % 4 + 50": "training label 53, but only 40",
        "np.arange(n) % 4 + 2**40": "must be 0 to the number of classes",
        "np.arange(n) % 4 * 1.0": "labels of float64: must be whole numbers",
        "np.arange(n - 1) % 4": r"labels of shape \(39,\) for 40 images",
        "np.zeros(n, int)": "all training labels are 0",
        "np.eye(n, dtype=int)": r"labels of shape \(40, 40\)",
        "np.arange(n) % (4 if n == 40 else 9)": "test label 8: training labels go to 3 only",
        "['a'] * n": "labels of <U1: must be whole",
        "None": r"labels of shape \(\)",
    },
    "rng.normal(5.0, 3.0, (n, 3, 4, 5))": {
        "np.ones(n)": r"images of shape \(40,\): must be",
        "np.ones((n, 1, 1, 1, 1))": "must be",
        "np.ones((n, 0, 4))": "at least one",
        "np.ones((n, 3, n))": "must be alike",
        "np.ones((n, 3, 3), 'f4' if n > 20 else 'u1')": "must be alike",
        "np.ones((n, 3, 3), int)": "images of int64: must be uint8 or floats",
        "np.full((n, 3, 3), np.nan)": "must be finite",
        "np.full((n, 3, 3), 1e300)": "must be finite",
        "np.array(['a'] * 9 * n).reshape(n, 3, 3)": "images of <U1",
        "[[1.0], [2.0, 3.0]]": "not NumPy arrays",
        "rng.normal(size=(n, 2)) * 1e-42": "vary too little",
    },
    "samples(40), samples(12)": {
        "samples(0), samples(12)": "training images .* at least one",
        "samples(40), samples(0)": "test images .* at least one",
        "samples(40)": "no pair of pairs",
        "None": "no pair of pairs",
        "1 / 0": r"my_data:load\(\) raised ZeroDivisionError: division by zero",
        "open('missing')": "raised FileNotFoundError",
        "[].pop(\n)": "raised IndexError: pop from empty list",
    },
    "def load()": {
        "def laod()": r'load does not exist in .*my_data.py \(did you mean "laod"\?\)',
        "def load(folder)": "raised TypeError: .*missing 1 required",
        "load = 3\ndef other()": "load is not a function",
        "import no_such_thing\ndef load()": "my_data cannot be imported: ModuleNotFoundError: No",
        "def load(:": "my_data cannot be imported: SyntaxError",
        "1 / 0\ndef load()": "my_data cannot be imported: ZeroDivisionError",
    },
}
CASES = [(old, new, text) for old, rest in MISTAKES.items() for new, text in rest.items()]


@pytest.mark.parametrize(("old", "new", "message"), CASES)
def test_mistakes(load: Load, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load(GOOD.replace(old, new))
    assert str(caught.value).startswith('learning.dataset = "my_data:load": ')
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fmnits", r'must be fmnist-mini, .*"module:function" \(did you mean "fmnist"\?\)'),
        ("no_module_here:load", "there is no module no_module_here; run in the folder"),
        ("numpy.no_part:load", "there is no module numpy.no_part"),
        ("my data:load", "module:function"),
        ("numpy:", "module:function"),
        (":load", "module:function"),
        ("..x:load", "module:function"),
    ],
)
def test_wrong_names(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_dataset(LearningSettings(dataset=name))


def test_the_cause_is_kept(load: Load) -> None:
    with pytest.raises(InputError) as caught:
        load(GOOD.replace("samples(40), samples(12)", "1 / 0"))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
