"""A `Drawing` as bytes that a page can hold: a head of JSON, arrays behind it, compressed if it is whole.

Layout, before compression: four bytes, the length of the head, little-endian; the head; the arrays, each at a
multiple of eight bytes. In the head an array is ``{"at": offset, "type": "f4", "shape": […]}``; integers of
two bytes that stand for numbers bring ``"scale"`` and ``"shift"``: x = shift + scale · i. Poses, points and
forces are 32-bit floats, times and curves 64-bit; normals and coefficients are 16-bit; vertices of meshes are
16-bit within the mesh's box. A drawing is compressed by gzip, which every browser undoes, but not at once.
Frames that go on are not: a page takes them as they come. The head's length is even and gzip begins with an
odd byte, which tells one from the other.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from typing import Any

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.drawing.description import Drawing, Frames, Part, Triangles, View
from taction.drawing.panels import Panel

# No time stamp and one level: equal drawings have equal bytes.
LEVEL = 6


class Packer:
    """Collects arrays and the places at which they stand."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.size = 0

    def plain(self, array: Array | IntArray, kind: str) -> dict[str, Any]:
        """An array as numbers of a kind: ``f4``, ``u1``, ``i2``, ``u4``, ``i4``."""
        return self._put(np.ascontiguousarray(array, dtype="<" + kind), kind)

    def rounded(self, array: Array) -> dict[str, Any]:
        """An array as 16-bit integers with a scale and a shift."""
        array = np.asarray(array, dtype=float)
        low, high = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
        scale = (high - low) / 65534.0 or 1.0
        steps = np.round((array - low) / scale - 32767.0).astype("<i2")
        return self._put(steps, "i2") | {"scale": scale, "shift": low + 32767.0 * scale}

    def _put(self, array: Any, kind: str) -> dict[str, Any]:
        data = array.tobytes()
        place = {"at": self.size, "type": kind, "shape": list(array.shape)}
        data += b"\0" * (-len(data) % 8)
        self.chunks.append(data)
        self.size += len(data)
        return place

    def pack(self, head: dict[str, Any]) -> bytes:
        """Head and arrays."""
        text = json.dumps(head, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-(4 + len(text)) % 8)
        return len(text).to_bytes(4, "little") + text + b"".join(self.chunks)


def encode_drawing(drawing: Drawing, **more: Any) -> bytes:
    """A drawing for a page, with more entries of the head if given."""
    packer = Packer()
    head = {
        "title": drawing.title,
        "bodies": list(drawing.bodies),
        "parts": [_part(part) for part in drawing.parts],
        "meshes": [_mesh(packer, mesh) for mesh in drawing.meshes],
        "view": _view(drawing.view),
        "dt": drawing.dt,
        "trails": [{**asdict(trail), "point": trail.point.tolist()} for trail in drawing.trails],
        "panels": [_panel(packer, panel) for panel in drawing.panels],
        "notes": drawing.notes,
        "frames": _frames(packer, drawing.frames),
        **more,
    }
    return gzip.compress(packer.pack(head), LEVEL, mtime=0)


def encode_frames(frames: Frames, curves: list[tuple[Array, Array]] | None = None, **more: Any) -> bytes:
    """Frames that go on from those sent before, with more points of the curves, in their order."""
    packer = Packer()
    points = [_curve(packer, t, y) for t, y in curves or []]
    return packer.pack({"frames": _frames(packer, frames), "curves": points, **more})


def _frames(packer: Packer, frames: Frames) -> dict[str, Any]:
    return {
        "t": packer.plain(frames.t, "f8"),
        "position": packer.plain(frames.position, "f4"),
        "quaternion": packer.plain(frames.quaternion, "f4"),
        "com": packer.plain(frames.com, "f4"),
        "first": packer.plain(frames.first, "u4"),
        "point": packer.plain(frames.point, "f4"),
        "normal": packer.rounded(frames.normal),
        "tangent": packer.rounded(frames.tangent),
        "friction": packer.rounded(frames.friction),
        "force": packer.plain(frames.force, "f4"),
        "state": packer.plain(frames.state, "u1"),
        "pair": packer.plain(frames.pair, "i2"),
        "open": packer.plain(frames.is_open, "u1"),
    }


def _part(part: Part) -> dict[str, Any]:
    lists = {"position": part.position.tolist(), "quaternion": part.quaternion.tolist()}
    return {**vars(part), **lists}


def _mesh(packer: Packer, mesh: Triangles) -> dict[str, Any]:
    return {"vertices": packer.rounded(mesh.vertices), "faces": packer.plain(mesh.faces, "u4")}


def _view(view: View) -> dict[str, Any]:
    lists = {"target": view.target.tolist(), "half": view.half.tolist(), "radius": view.radius}
    return {**vars(view), **lists}


def _panel(packer: Packer, panel: Panel) -> dict[str, Any]:
    return {
        "title": panel.title,
        "label": panel.label,
        "isLog": panel.is_log,
        "isCount": panel.is_count,
        "limit": panel.limit,
        "top": panel.top,
        "note": panel.note,
        "across": panel.across,
        "isLogAcross": panel.is_log_across,
        "curves": [
            {
                "name": curve.name,
                "isDashed": curve.is_dashed,
                "isTotal": curve.is_total,
                **_curve(packer, curve.t, curve.y),
            }
            for curve in panel.curves
        ],
    }


def _curve(packer: Packer, t: Array, y: Array) -> dict[str, Any]:
    return {"t": packer.plain(t, "f8"), "y": packer.plain(y, "f8")}
