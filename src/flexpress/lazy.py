"""Names of a package that load their module when they are first used.

Because of this `import flexpress` and `flexpress --help` are instant.
"""

import sys


def lazy_names(package: str, homes: dict[str, str]) -> tuple[object, object]:
    """`__getattr__` and `__dir__` of the package.

    `homes` maps each of its modules to the names that it defines, separated by spaces; the names
    under "" are modules themselves.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def load(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module = f"{package}.{home_of[name] or name}"
        __import__(module)
        return getattr(sys.modules[module], name) if home_of[name] else sys.modules[module]

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return load, names
