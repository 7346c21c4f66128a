"""Rows of the fault measurements with a display: X servers without a graphics card, and the Wayland compositor cage."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from installation import HERE, Installation, Skipped
from rows import fault_row, moves, need, row

# A small picture, for a machine without a graphics card.
SMALL = "[[outputs]]\nwidth_px = 320\nheight_px = 180\n"
DUMMY_DRIVER = "/usr/lib/xorg/modules/drivers/dummy_drv.so"
# A user without rights: cage refuses to run as root.
NOBODY = 65534


class Screen:
    """An X server."""

    def __init__(self, program="Xvfb", arguments=("-screen", "0", "640x360x24"), number=None):
        need(program)
        number = [f":{number}"] if number is not None else []
        self.server = subprocess.Popen(
            [program, *number, *arguments, "-displayfd", "1", "-noreset", "-nolisten", "tcp"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        answer = self.server.stdout.readline().strip()
        if not answer:
            raise Skipped(f"{program} does not start here")
        self.number = int(answer)
        self.env = {"DISPLAY": f":{self.number}"}

    def end(self):
        self.server.kill()
        self.server.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Monitors:
    """Xorg with the dummy driver and the monitors DUMMY0 and DUMMY1, 320 x 240 pixels each, side by side."""

    BOTH = "--output DUMMY0 --mode small --pos 0x0 --output DUMMY1 --mode small --pos 320x0"

    def __init__(self):
        need("Xorg", "xrandr", "xwininfo", DUMMY_DRIVER)
        self.folder = Path(tempfile.mkdtemp(prefix="shoal-"))
        source = (HERE.parent / "program/window.rs").read_text()
        config = re.search(r'const MONITORS: &str = r#"(.*?)"#', source, re.S)
        (self.folder / "xorg.conf").write_text(config[1])
        self.screen = self.start()
        self.xrandr("--newmode small 7.2 320 330 340 400 240 250 260 300")
        for number in range(3):
            self.xrandr(f"--addmode DUMMY{number} small")
        self.xrandr(self.BOTH)

    def start(self, number=None):
        """Starts the server."""
        arguments = ("-config", str(self.folder / "xorg.conf"), "-logfile", str(self.folder / "xorg.log"))
        return Screen("Xorg", arguments, number)

    def ask(self, program, *arguments):
        """Runs a client of the server and returns its output."""
        env = {**os.environ, **self.screen.env}
        return subprocess.run([program, *arguments], env=env, check=True, capture_output=True, text=True).stdout

    def xrandr(self, text):
        """Changes the monitors."""
        self.ask("xrandr", *text.split())

    def window(self):
        """Returns the position of Shoal's window, such as `320,0`; None without a window."""
        found = re.search(r'"Shoal": .*\+(-?\d+)\+(-?\d+)$', self.ask("xwininfo", "-root", "-tree"), re.M)
        return found and f"{found[1]},{found[2]}"

    def run(self):
        """Runs Shoal with one output, on DUMMY1, until its picture is shown."""
        site = '[[outputs]]\nmonitor = "DUMMY1"\nwidth_px = 320\nheight_px = 240\n'
        pool = Installation(site=site, camera="synthetic:1", options=(), env=self.screen.env)
        try:
            picture_again(pool, 0)
            self.wait_for(pool, "320,0")
        except BaseException:
            pool.stop()
            raise
        return pool

    def wait_for(self, pool, position):
        """Waits for the window at a position, and returns the time."""
        return pool.wait(lambda: self.window() == position, f"the window at {position} (it is at {self.window()})", 40)[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.screen.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def picture_again(pool, count_before, seconds=90):
    """Waits until a picture is shown again: the line of the log that names the outputs."""
    return pool.wait(lambda: pool.log().count("picture: outputs[0]") > count_before, "the picture", seconds)[0]


def monitor_row(change):
    """DUMMY1 disappears by a change of the monitors, and returns after the fault was reported everywhere."""
    with Monitors() as monitors, monitors.run() as pool:
        back, moved = [], []

        def restore():
            moved.append(monitors.window())
            monitors.xrandr(monitors.BOTH)
            back.append(monitors.wait_for(pool, "320,0"))

        seen, noticed, _ = fault_row(pool, "monitor", lambda: monitors.xrandr(change), restore)
        pool.stop()
        return f"{seen}; meanwhile at {moved[0]}, then at 320,0 again", noticed, back[0]


@row("display off and on", "Xorg, dummy driver: DUMMY1 off, and on again", "its projector again, ≤ 2 s")
def display_off():
    return monitor_row("--output DUMMY1 --off")


@row("display renamed", "Xorg, dummy driver: the same place is DUMMY2 for a while", "its projector again, ≤ 2 s")
def display_renamed():
    return monitor_row("--output DUMMY1 --off --output DUMMY2 --mode small --pos 320x0")


@row("displays swapped", "Xorg, dummy driver: DUMMY0 and DUMMY1 change places, and back", "its projector again, ≤ 2 s")
def displays_swapped():
    with Monitors() as monitors, monitors.run() as pool:
        monitors.xrandr("--output DUMMY1 --mode small --pos 0x0 --output DUMMY0 --mode small --pos 320x0")
        first = monitors.wait_for(pool, "0,0")
        monitors.xrandr(monitors.BOTH)
        second = monitors.wait_for(pool, "320,0")
        pool.stop()
    return "the window follows its monitor both times", None, max(first, second)


def display_killed(first, again, options):
    """A display server that is killed, and another one that takes its place after 5 s."""
    try:
        with Installation(site=SMALL, camera="synthetic:1", options=options, env=first.env) as pool:
            picture_again(pool, 0)
            before = pool.log().count("picture: outputs[0]")
            first.end()
            noticed, _ = pool.wait(lambda: "until a display answers" in pool.log(), "the missing display", 60)
            moves(pool)
            time.sleep(5)
            with again():
                back = picture_again(pool, before)
                pool.wait(lambda: pool.status() and "picture" not in pool.faults(), "the end of the fault", 60)
                pool.stop()
        return "the log names the missing display; a new process draws when it is back", noticed, back
    finally:
        first.end()


@row("X server killed", "Xvfb killed, started again after 5 s", "picture within 2 s of its return")
def x_server():
    first = Screen()
    return display_killed(first, lambda: Screen(number=first.number), ("--windowed",))


@row("X server killed, Xorg", "Xorg with the dummy driver killed, started again after 5 s", "picture within 2 s of its return")
def xorg_server():
    with Monitors() as monitors:
        number = monitors.screen.number
        return display_killed(monitors.screen, lambda: monitors.start(number), ())


class Cage:
    """The Wayland compositor cage without a screen, which draws with the CPU. Its own program does nothing; Shoal is a client."""

    def __init__(self, folder):
        need("cage", "setpriv", "Xwayland")
        self.folder = folder
        os.chown(folder, NOBODY, NOBODY)
        os.chmod(folder, 0o700)
        self.env = {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": "wayland-0"}
        env = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman"}
        env |= {"WLR_LIBINPUT_NO_DEVICES": "1"}
        user = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups") if os.geteuid() == 0 else ()
        self.server = subprocess.Popen(
            ["setpriv", *user, "cage", "-d", "--", "sleep", "3600"],
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        begun = time.monotonic()
        while not (folder / "wayland-0").exists():
            if self.server.poll() is not None or time.monotonic() - begun > 20:
                self.end()
                raise Skipped("cage does not start here")
            time.sleep(0.1)

    def end(self):
        self.server.kill()
        self.server.wait()
        for file in self.folder.glob("wayland-*"):
            file.unlink()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


@row("compositor killed", "headless cage killed, started again after 5 s", "picture within 2 s of its return")
def compositor():
    folder = Path(tempfile.mkdtemp(prefix="shoal-"))
    try:
        return display_killed(Cage(folder), lambda: Cage(folder), ())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@row("displays of cage off and on", "-", "its projector again, ≤ 2 s")
def cage_outputs():
    raise Skipped("cage 0.1 has no protocol that switches its outputs, and a headless one cannot be unplugged")


@row("GPU device lost", "--lose-device-after 60 on Xvfb", "opened again from main memory")
def gpu_lost():
    options = ("--windowed", "--lose-device-after", "60")
    with Screen() as screen:
        with Installation(site=SMALL, camera="synthetic:1", options=options, env=screen.env) as pool:
            noticed, _ = pool.wait(lambda: "the graphics device failed: lost" in pool.log(), "the lost device", 120)
            back = picture_again(pool, 1)
            moves(pool)
            pool.stop()
    return "picture: log; drawn again", noticed, back
