"""The field programs: a server, couriers and clients that learn although two of them never meet.

They need the extra `field`; its packages are loaded when a name is first used.
"""

from flexpress.lazy import lazy_names

TYPE_CHECKING = False  # as type checkers know it

if TYPE_CHECKING:
    from flexpress.field.client import run_client
    from flexpress.field.courier import run_courier
    from flexpress.field.join import add_client, add_courier
    from flexpress.field.log import Log, make_log
    from flexpress.field.operator import Done, Status, operate, status_to_json
    from flexpress.field.provisioning import provision
    from flexpress.field.rehearsal import Rehearsal, rehearse
    from flexpress.field.server import run_server
else:
    from flexpress.errors import InputError

    _load, __dir__ = lazy_names(
        __name__,
        {
            "client": "run_client",
            "courier": "run_courier",
            "join": "add_client add_courier",
            "log": "Log make_log",
            "operator": "Done Status operate status_to_json",
            "provisioning": "provision",
            "rehearsal": "Rehearsal rehearse",
            "server": "run_server",
        },
    )

    def __getattr__(name):
        try:
            return _load(name)
        except ModuleNotFoundError as error:
            if error.name not in ("aiohttp", "cryptography", "msgspec"):
                raise
            raise InputError(
                f"the field programs need the package {error.name}: pip install 'flexpress[field]'"
            ) from None


__all__ = [
    "Done",
    "Log",
    "Rehearsal",
    "Status",
    "add_client",
    "add_courier",
    "make_log",
    "operate",
    "provision",
    "rehearse",
    "run_client",
    "run_courier",
    "run_server",
    "status_to_json",
]
