"""The command `bound`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, cast, get_args

import click
import typer

from flexpress.cli.app import app
from flexpress.cli.found import find_scenario, stored_plan
from flexpress.cli.learning import ENGINES, find_modules
from flexpress.cli.terminal import complain, console, say
