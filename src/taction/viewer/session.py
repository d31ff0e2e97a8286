"""A live session: what is shown, simulated in a thread of its own, sent to every page that is open.

The simulation advances in pieces of a thirtieth of a second, each a run that continues where the last one
ended, bit for bit as a whole run would. Every piece becomes frames (`taction.drawing`) and points of the
curves and is sent to all pages; what was sent is kept, so that a page that opens later sees everything. Two
models beside each other advance by the same pieces.

A dragged body is pulled by a spring (`taction.viewer.actor`), whose force is held over 5 ms at a time.

Errors, also those of a controller that somebody else wrote, end the motion and are said in the page; they
never end the session.
"""

from __future__ import annotations

import json
import threading
import time as clock
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from taction._core.errors import BadInput, TactionError
from taction._core.jit import on_compile
from taction.drawing.description import Drawing
from taction.drawing.draw import draw_frames, draw_run
from taction.drawing.encode import encode_drawing
from taction.drawing.motion import frames_of_run
from taction.drawing.view import goes_free
from taction.scenarios.base import RESIDUAL_LIMIT
from taction.sim.run import Run
from taction.steppers.columns import RESIDUAL
from taction.viewer.actor import Actor, Drag, grasp
from taction.viewer.pieces import encode_piece, live_panels
from taction.viewer.sources import RUN_FILES, Choice, Folder, Play, make_plays, offers, open_run

PIECE, HELD = 1.0 / 30.0, 0.005  # simulated time of a piece, and for which the force of a drag is held [s]
TOLD_EVERY = 0.1  # wall time between two words about the state while it runs [s]
FARTHEST = 1e6  # where a target may be [m]
MOST_KEPT = 6000  # pieces that are kept for pages that open later
Send = Callable[[str | bytes], None]


class Session:
    """What all pages of a server show."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.choice = Choice()
        self.actors: list[Actor] = []
        self.is_running = False
        self.speed = 1.0
        self.drag: Drag | None = None
        self.pull = 0.0  # force of the spring that drags [N]
        self.error = ""
        self.words: tuple[str, ...] = ()
        self._kept: list[bytes] = []
        self._listeners: dict[int, Send] = {}
        self._lock = threading.RLock()
        self._wake = threading.Condition(self._lock)
        self._number = 0
        self._is_over = False
        self._once, self._said = 0, 0.0
        self._thread = threading.Thread(target=self._work, name="taction-view", daemon=True)
        self._thread.start()

    # ----- Pages ---------------------------------------------------------------------------------------

    def join(self, send: Send) -> int:
        """A page opens: it gets all there is, and all that comes; returns its number."""
        with self._lock:
            self._number += 1
            send(json.dumps({"is": "offers", **offers(self.folder)}))
            for message in self._kept:
                send(message)
            send(self._told())
            self._listeners[self._number] = send
            return self._number

    def leave(self, number: int) -> None:
        """A page is gone."""
        with self._lock:
            self._listeners.pop(number, None)
            if not self._listeners:
                self.drag = None

    def hear(self, text: str | bytes) -> None:
        """A page asks for something; what it may not ask for is said in the pages."""
        try:
            message = json.loads(text)
            act = self._acts()[message["do"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            return self._fail("a message that this program does not know")
        try:
            act(message)
        except (TactionError, OSError) as error:
            self._fail(str(error))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            self._fail(f"a message with something missing or wrong ({error})")
        except Exception as error:
            self._fail(_named(error))
        return None

    def _acts(self) -> dict[str, Callable[[dict[str, Any]], None]]:
        return {
            "open": lambda m: self._prepare(Choice.read(m["choice"])),
            "run": lambda m: self._go(True),
            "pause": lambda m: self._go(False),
            "step": lambda m: self._step(),
            "speed": lambda m: self._set_speed(float(m["value"])),
            "drag": self._take,
            "release": lambda m: self._release(),
        }

    # ----- What pages ask for ----------------------------------------------------------------------------

    def _prepare(self, choice: Choice) -> None:
        """`open`, while pages say how far it is."""

        def compiled(done: int, total: int, share: float) -> None:
            self._send(json.dumps({"is": "busy", "text": f"compiling: {done} of {total} kernels"}))

        with self._lock:
            self.is_running = False
        self._send(json.dumps({"is": "busy", "text": "preparing …"}))
        try:
            with on_compile(compiled):
                self.open(choice)
        finally:
            self._send(json.dumps({"is": "busy", "text": ""}))

    def open(self, choice: Choice) -> None:
        """Show something else, from its start, at rest.

        Raises:
            BadInput: a choice that does not exist or does not fit.
        """
        if choice.file.endswith(RUN_FILES):
            self.show_run(open_run(choice.file, self.folder), choice)
        else:
            self.show_plays(make_plays(choice, self.folder), choice)

    def show_run(self, run: Run, choice: Choice | None = None) -> None:
        """Show a recorded run."""
        drawing = draw_run(run)
        with self._wake:
            self._begin(choice or Choice(), [])
            self._keep(encode_drawing(drawing, which=0, of=1, isLive=False))
            self._tell()

    def show_plays(self, plays: list[Play], choice: Choice | None = None) -> None:
        """Simulate one thing, or two beside each other."""
        actors = [Actor(play) for play in plays]
        for actor in actors:  # the shortest piece: bad input shows here, and there is something to see
            actor.advance(0.0)
        drawings = [self._drawing(actor, choice or Choice()) for actor in actors]
        with self._wake:
            self._begin(choice or Choice(), actors)
            self.words = tuple(word for play in plays for word in play.words)
            for k, drawing in enumerate(drawings):
                self._keep(encode_drawing(drawing, which=k, of=len(drawings), isLive=True))
            self._tell()

    def _begin(self, choice: Choice, actors: list[Actor]) -> None:
        self.choice, self.actors, self.is_running, self.drag = choice, actors, False, None
        self.error, self.words, self._once = "", (), 0
        self._kept.clear()

    def _drawing(self, actor: Actor, choice: Choice) -> Drawing:
        run, model = actor.run, actor.play.simulation.model
        assert run is not None
        title = f"{actor.play.name}: {run.contact or 'no contact'}" if choice.beside else actor.play.name
        frames = frames_of_run(run, np.arange(run.steps + 1))
        drawing = draw_frames(model, frames, run.dt, title=title, panels=live_panels(run))
        return replace(drawing, view=replace(drawing.view, follow=goes_free(model)))

    def _go(self, is_running: bool) -> None:
        with self._wake:
            if is_running and not self.actors:
                raise BadInput("a recorded run is played, not simulated")
            self.is_running = is_running
            if is_running:
                self.error = ""
            self._wake.notify_all()
            self._tell()

    def _step(self) -> None:
        with self._wake:
            if not self.actors:
                raise BadInput("a recorded run is played, not simulated")
            self.is_running, self._once = False, 1
            self._wake.notify_all()

    def _set_speed(self, value: float) -> None:
        if not 0.01 <= value <= 100.0:
            raise BadInput(f"speed must be between 0.01 and 100, got {value:g}")
        with self._lock:
            self.speed = value
            self._tell()

    def _take(self, message: dict[str, Any]) -> None:
        """A body is dragged: the point in the world where it was grasped comes first, then targets."""
        k, body = int(message["which"]), int(message["body"])
        target = _three(message["target"])
        with self._wake:
            if not 0 <= k < len(self.actors):
                return
            actor = self.actors[k]
            if not 0 <= body < len(actor.play.simulation.model.body_names) or actor.run is None:
                raise BadInput("no such body")
            if actor.play.simulation.world is None:
                raise BadInput("smooth motion knows no forces from outside: nothing can be dragged in it")
            if "point" in message:
                self.drag = grasp(actor, k, body, np.array(_three(message["point"])), target)
            elif self.drag is not None:
                self.drag = replace(self.drag, target=target)

    def _release(self) -> None:
        with self._wake:
            self.drag, self.pull = None, 0.0
            self._tell()

    # ----- The simulation ------------------------------------------------------------------------------

    def _work(self) -> None:
        """Simulate while asked to, at the speed asked for."""
        ahead = 0.0  # wall time at which the next piece is due
        while True:
            with self._wake:
                while not (self._is_over or self.is_running or self._once):
                    self._wake.wait()
                    ahead = 0.0
                if self._is_over:
                    return
                actors, drag, once = self.actors, self.drag, self._once
                self._once = 0
                piece = max(actor.smallest for actor in actors) if once else PIECE
            self._advance(actors, drag, piece)
            ahead = max(ahead, clock.monotonic() - 0.2) + piece / self.speed
            wait = ahead - clock.monotonic()
            if wait > 0.0 and not once:
                clock.sleep(wait)

    def _advance(self, actors: list[Actor], drag: Drag | None, piece: float) -> None:
        """One piece of every actor; an error ends the motion and is said."""
        before = [actor.time for actor in actors]
        try:
            sent = []
            for k, actor in enumerate(actors):
                is_dragged = drag is not None and drag.actor == k
                runs = []
                for part in _parts(piece, max(HELD, actor.smallest)) if is_dragged else [piece]:
                    wrench = None
                    if is_dragged and self.drag is not None:
                        wrench, self.pull = self.drag.wrench(actor)
                    runs.append(actor.advance(part, wrench))
                    if actor.is_over:
                        break
                if runs[-1].blew_up:
                    raise BadInput(runs[-1].blew_up)
                runs = [run for run in runs if run.steps]
                if runs:
                    sent.append(encode_piece(runs, k))
        except Exception as error:
            with self._lock:
                if self.actors is actors:
                    self.is_running = False
                    self._fail(str(error) if isinstance(error, TactionError) else _named(error))
            return
        with self._lock:
            if self.actors is not actors:  # something else was opened meanwhile
                return
            for message in sent:
                self._keep(message)
            passed = [t < a.play.duration - 1e-9 <= a.time for t, a in zip(before, actors, strict=True)]
            if all(passed) or any(actor.is_over for actor in actors):
                self.is_running = False  # it ends here; without a stop, running on is possible
            now = clock.monotonic()
            if not self.is_running or now - self._said > TOLD_EVERY:
                self._said = now
                self._tell()

    # ----- Telling -------------------------------------------------------------------------------------

    def _told(self) -> str:
        """The state of the session for pages."""
        residual = None
        if self.actors and self.actors[0].run is not None and self.actors[0].run.records is not None:
            residual = float(self.actors[0].run.records[:, RESIDUAL].max(initial=0.0))
        return json.dumps(
            {
                "is": "state",
                "choice": vars(self.choice),
                "isRunning": self.is_running,
                "isLive": bool(self.actors),
                "time": self.actors[0].time if self.actors else None,
                "speed": self.speed,
                "residual": residual,
                "limit": RESIDUAL_LIMIT,
                "pull": self.pull if self.drag is not None else None,
                "error": self.error,
                "words": list(self.words),
            }
        )

    def _fail(self, message: str) -> None:
        with self._lock:
            self.error = " ".join(message.split())
            self._tell()

    def _tell(self) -> None:
        self._send(self._told())

    def _keep(self, message: bytes) -> None:
        """Send, and keep for pages that open later."""
        if len(self._kept) < MOST_KEPT:
            self._kept.append(message)
        self._send(message)

    def _send(self, message: str | bytes) -> None:
        for send in list(self._listeners.values()):
            send(message)

    def close(self) -> None:
        """End the thread."""
        with self._wake:
            self._is_over, self.is_running = True, False
            self._wake.notify_all()
        self._thread.join(timeout=5.0)


def _parts(piece: float, most: float) -> list[float]:
    """A piece in equal parts of at most that much [s]."""
    count = max(1, int(np.ceil(piece / most)))
    return [piece / count] * count


def _three(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    if not all(abs(c) <= FARTHEST for c in (x, y, z)):
        raise BadInput(f"a point must be three numbers of at most {FARTHEST:g} m")
    return x, y, z


def _named(error: Exception) -> str:
    """An error that is not ours, in one line."""
    return f"{type(error).__name__}: {error}"
