"""A running installation for measurements: the real program with its own folder, control socket and log."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHOAL = os.environ.get("SHOAL") or str(HERE.parents[1] / "target/release/shoal")

# Faults become messages after a second, so that a measurement does not wait for a minute.
ALERTS = '[alerts]\ncommand = "sh -c \'cat >> {folder}/messages\'"\nafter_secs = 1\nrecovered_after_secs = 1\n'


class Installation:
    """`shoal run` in a folder of its own. Events and log lines are kept with the time of their arrival."""

    def __init__(self, site="", camera=None, options=("--headless",), env=None, folder=None, wrapper=(), alerts=True, log="info"):
        self.folder = Path(folder or tempfile.mkdtemp(prefix="shoal-"))
        self.owns_folder = folder is None
        # The control socket and the log stay outside of a folder that a measurement breaks.
        self.outside = Path(tempfile.mkdtemp(prefix="shoal-"))
        self.outside.chmod(0o777)
        self.site = self.folder / "site.toml"
        if not self.site.exists():
            text = 'scene = "pool"\n' + (ALERTS.format(folder=self.outside) if alerts else "") + site
            self.site.write_text(text)
        self.mode_file = self.outside / "mode"
        camera = camera or f"command:{sys.executable} {HERE}/camera.py {self.mode_file}"
        self.arguments = [*wrapper, SHOAL, "run", str(self.site), "--camera", camera, "--log", log]
        self.arguments += ["--control-socket", str(self.outside / "socket")]
        self.arguments += [option.format(folder=self.folder) for option in options]
        self.env = {**os.environ, **(env or {})}
        self.env.pop("NOTIFY_SOCKET", None) if "NOTIFY_SOCKET" not in (env or {}) else None
        self.log_path = self.outside / "log"
        self.events, self.process = [], None
        self.start()

    def start(self):
        """Starts the program and follows its events."""
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.arguments, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait(lambda: self.status(), "the first status", 60)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        """Keeps events until the program ends."""
        command = [SHOAL, "ctl", "--socket", str(self.outside / "socket"), "events", "--follow"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as follower:
            for line in follower.stdout:
                self.events.append((time.monotonic(), json.loads(line)))

    def ctl(self, *words, stdin=None):
        """Runs `shoal ctl` and returns exit code and output."""
        command = [SHOAL, "ctl", "--socket", str(self.outside / "socket"), *words]
        done = subprocess.run(command, capture_output=True, text=True, input=stdin, timeout=30, check=False)
        return done.returncode, done.stdout + done.stderr

    def send(self, *commands):
        """Sends commands. Returns whether all were applied, and the replies."""
        code, text = self.ctl("send", "-", stdin="".join(json.dumps(command) + "\n" for command in commands))
        if code not in (0, 1):
            raise Failed(f"shoal ctl send: {text[:300]}")
        return code == 0, text

    def status(self):
        """Returns the status; None while the program does not answer."""
        try:
            code, text = self.ctl("status", "--json")
            return json.loads(text) if code in (0, 3) else None
        except (ValueError, subprocess.TimeoutExpired):
            return None

    def faults(self):
        """Returns the names of the active faults."""
        return [fault["name"] for fault in (self.status() or {}).get("faults", [])]

    def wait(self, is_so, what, seconds=60.0):
        """Waits until a condition holds. Returns the time that it took and its value."""
        begun = time.monotonic()
        while time.monotonic() - begun < seconds:
            value = is_so()
            if value:
                return time.monotonic() - begun, value
            if self.process.poll() is not None:
                raise Failed(f"{what}: the program ended with {self.process.returncode}: {self.log()[-400:]}")
            time.sleep(0.1)
        raise Failed(f"{what}: not within {seconds:.0f} s; faults {self.faults()}")

    def log(self):
        """Returns the text of the log."""
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def messages(self):
        """Returns the delivered alerts."""
        path = self.outside / "messages"
        return path.read_text() if path.exists() else ""

    def set_mode(self, mode):
        """Changes what the camera program does."""
        new = self.mode_file.with_suffix(".new")
        new.write_text(mode)
        new.replace(self.mode_file)

    def processes(self):
        """Returns the process and its descendants."""
        found = [self.process.pid]
        for process in found:
            for task in Path(f"/proc/{process}/task").glob("*/children"):
                try:
                    found += [int(child) for child in task.read_text().split()]
                except OSError:
                    pass
        return found

    def stop(self, sign=signal.SIGTERM):
        """Ends the program."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGKILL if self.process.poll() is None and not self.status() else signal.SIGTERM)
        shutil.rmtree(self.outside, ignore_errors=True)
        if self.owns_folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def edit(document, path, value):
    """Returns a command that sets a value of a document."""
    return {"command": "edit", "edits": [{"document": document, "path": path, "change": {"do": "set", "value": value}}]}


SITE, SCENE = {"kind": "site"}, {"kind": "scene", "name": "pool"}


class Failed(Exception):
    """A measurement that did not show what it should."""


class Skipped(Exception):
    """A measurement that cannot run on this machine, with the reason."""
