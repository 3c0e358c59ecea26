"""Mission control: plan, watch and fly in the browser. Needs the extra `field`."""

from typing import TYPE_CHECKING

from flexpress.lazy import lazy_names

if TYPE_CHECKING:
    from flexpress.control.server import ControlServer
    from flexpress.control.start import run_control
else:
    from flexpress.errors import InputError

    _load, __dir__ = lazy_names(__name__, {"server": "ControlServer", "start": "run_control"})

    def __getattr__(name):
        try:
            return _load(name)
        except ModuleNotFoundError as error:
            if error.name not in ("aiohttp", "cryptography", "msgspec"):
                raise
            raise InputError(
                f"mission control needs the package {error.name}: pip install 'flexpress[field]'"
            ) from None


__all__ = ["ControlServer", "run_control"]
