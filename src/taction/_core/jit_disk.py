"""Compiled kernels on disk, in sealed files.

Numba keeps an index per kernel, which names a file of code for each set of types, and unpickles both. Here
they are `taction._core.sealed`: a damaged one is as good as none, and its kernel is compiled again. What
cannot be written is not kept, no more; that is said once.
"""

from __future__ import annotations

import logging
import os
import pickle
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

from taction._core.sealed import read_sealed, write_sealed

log = logging.getLogger("taction")


class SealedCacheFile(IndexDataCacheFile):
    """Index and code of a kernel; see Numba's class for the names."""

    def _load_index(self) -> Any:
        body = read_sealed(self._index_path)
        if body is None:
            return {}
        version, stamp, overloads = pickle.loads(body)
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: Any) -> None:
        write_sealed(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        body = read_sealed(self._data_path(name))
        if body is None:
            raise FileNotFoundError(name)  # for Numba: compile it
        return pickle.loads(body)

    def _save_data(self, name: str, data: Any) -> None:
        write_sealed(self._data_path(name), self._dump(data))


class KernelCache(FunctionCache):
    """Disk cache of one face of a kernel."""

    is_told = False  # that nothing can be written

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = SealedCacheFile(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def is_there(self) -> bool:
        """Whether something is on disk, for whatever types."""
        return os.path.exists(self._cache_file._index_path)

    def save_overload(self, sig: Any, data: Any) -> None:
        """See `FunctionCache`; without room nothing is kept."""
        try:
            os.stat(self._cache_path)  # one that is gone would come back with another mode
            super().save_overload(sig, data)
        except OSError as error:
            if not KernelCache.is_told:
                KernelCache.is_told = True
                why = error.strerror or error
                log.warning("%s: %s; compiled kernels are not kept", self._cache_path, why)
