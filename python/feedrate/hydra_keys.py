# SPDX-License-Identifier: Apache-2.0
"""Keys of OmegaConf's configs, and the override by which Hydra sets the value of one."""

import sys

from .options import Override


def keys_of(variables):
    """The full key of each config among the variables of a function, by its name: "data" of `cfg.data`,
    and "" of the whole. Those that `self` has are named "self.cfg"."""
    named = dict(variables)
    try:
        named.update(("self." + name, value) for name, value in vars(variables["self"]).items())
    except Exception:  # there is none, or it is a stand-in for something that is not there yet
        pass
    keys = {name: _key_of(value) for name, value in named.items()}
    return {name: key for name, key in keys.items() if key is not None}


def _key_of(value):
    if not str(type(value).__module__).startswith("omegaconf"):
        return None
    try:
        return value._get_full_key(None)
    except Exception:  # it is no part of OmegaConf's interface
        return None


def override_of(keys, path, argv):
    """The Override that sets what `cfg.data.num_workers` is, as a list of its words. None where Hydra
    composed no config with it, so that it would refuse the override."""
    known = [".".join(path[:end]) for end in range(len(path) - 1, 0, -1) if ".".join(path[:end]) in keys]
    if not known:
        return None
    end = known[0].count(".") + 1
    try:
        config = sys.modules["hydra.core.hydra_config"].HydraConfig.get()._get_parent()
        section = _part(config, keys[known[0]].split(".") + path[end:-1])
        # Another one than it was named by, where an interpolation leads there.
        key = section._get_full_key(None)
        if _part(config, key.split(".")) is not section:  # it is in a list
            return None
        held = section[path[-1]]
    except Exception:  # Hydra did not start the script, or the key is that of another config
        return None
    name = ".".join(filter(None, [key, path[-1]]))
    return Override(name, [word for word in argv if word.lstrip("+").startswith(name + "=")][-1:], held)


def _part(config, words):
    for word in filter(None, words):
        config = config[word]
    return config
