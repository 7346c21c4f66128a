"""Injects faults into the running program, one after the other, and prints what Shoal reported and when it recovered.

    scripts/verify faults             all rows
    scripts/verify faults NAME...     only rows whose name contains one of these words

Each row prints how the fault was injected, what was seen, and the times from the injection to the report and from the end of
the injection to the recovery. The last lines have the format of the other measurements: `verify: NAME | wanted … | got … | ok`.
"""

import ctypes
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import displays  # noqa: F401 (registers its rows)
from installation import HERE, SHOAL, SITE, Failed, Installation, Skipped, edit
from rows import ROWS, fault_row, moves, need, row

CAMERA_FAULTS = [
    ("black", "camera.black", "frames of zeros"),
    ("saturated", "camera.saturated", "frames of 255"),
    ("frozen", "camera.frozen", "one frame again and again"),
    ("stalled", "camera.stalled", "no frame, the program runs on"),
    ("end", "camera.ended", "the program ends (a camera that is unplugged)"),
    ("damaged", "camera.protocol_error", "bytes that are no frames"),
    ("short", "camera.protocol_error", "half a frame, then the next one"),
    ("wrong_size", "camera.wrong_size", "the program comes back with wider frames"),
]


def camera_row(mode, fault):
    """One fault of a camera program, with the time in which the shadows disappear."""

    def measure():
        with Installation() as pool:
            pool.wait(lambda: pool.status()["tracks"], "a visitor", 40)
            gone = []

            def inject():
                pool.set_mode(mode)
                gone.append(pool.wait(lambda: not pool.status()["tracks"], "shadows that disappear", 8)[0])

            seen, noticed, recovered = fault_row(pool, fault, inject, lambda: pool.set_mode("good"))
            pool.wait(lambda: pool.status()["tracks"], "a visitor after the fault", 60)
            return f"{seen}; shadows gone after {gone[0]:.1f} s", noticed + gone[0], recovered

    return measure


for mode_name, fault_name, how in CAMERA_FAULTS:
    row(f"camera {mode_name}", f"command: {how}", "reported, opened again")(camera_row(mode_name, fault_name))


@row("camera absent at start", "command: a program that is not there yet", "the pool runs, found later")
def absent():
    folder = Path(tempfile.mkdtemp(prefix="shoal-"))
    program = folder / "camera"
    with Installation(camera=f"command:{program}") as pool:
        noticed, _ = pool.wait(lambda: [f for f in pool.faults() if f.startswith("camera.")], "a fault of the camera", 20)
        moves(pool)
        # The program appears as a whole, as an installer would put it there.
        program.with_suffix(".new").write_text(f"#!/bin/sh\nexec {sys.executable} {HERE}/camera.py {folder}/mode\n")
        program.with_suffix(".new").chmod(0o755)
        program.with_suffix(".new").rename(program)
        camera_faults = lambda: [f for f in pool.faults() if f.startswith("camera.")]
        recovered, _ = pool.wait(lambda: not camera_faults(), "the camera", 60)
    shutil.rmtree(folder)
    return "camera.open_failed in status until the program was there", noticed, recovered


@row("camera that needs a USB reset", "-", "reset by a helper")
def usb_reset():
    raise Skipped("needs a USB camera; the driver of the camera VM is tested in tests/program/cameras_vm")


def log_row(mode, seconds):
    """The growth of the log while a camera fails again and again."""

    def measure():
        with Installation(alerts=False) as pool:
            pool.wait(lambda: pool.status()["camera"]["frames"] > 60, "frames")
            pool.set_mode(mode)
            time.sleep(20)
            before = pool.log_path.stat().st_size
            time.sleep(seconds)
            grown = pool.log_path.stat().st_size - before
            per_day = grown * 86400 / seconds
            if per_day >= 1_000_000:
                raise Failed(f"{grown} bytes in {seconds} s, {per_day / 1e6:.2f} MB a day")
            return f"{grown} bytes in {seconds} s, at most {per_day / 1e6:.2f} MB a day", None, None

    return measure


row("own logs, frames", "command: every second frame is black, for 60 s", "< 1 MB a day")(log_row("flapping", 60))
row("own logs, restarts", "command: a program that ends 2 s after each start, for 120 s", "< 1 MB a day")(log_row("brief", 120))
row("own logs, frozen", "command: a camera that stays frozen, for 60 s", "< 1 MB a day")(log_row("frozen", 60))


def scene_file(pool, text):
    """Writes the scene of the site as an editor does: as a whole."""
    (pool.folder / "scenes").mkdir(exist_ok=True)
    new = pool.folder / "scenes/pool.toml.new"
    new.write_text(text)
    new.rename(pool.folder / "scenes/pool.toml")


@row("config broken on reload", "a scene with a negative number and an unknown species", "last good one runs, banner")
def broken_reload():
    with Installation() as pool:
        scene_file(pool, "[population]\ntrout = 5\n")
        pool.wait(lambda: set(pool.status()["species"]) == {"trout"}, "the new scene")

        def count():
            return pool.status()["species"]["trout"]["count"]

        result = fault_row(
            pool,
            "site_files",
            lambda: scene_file(pool, "[population]\ntrout = -5\nshrk = 3\n"),
            lambda: scene_file(pool, "[population]\ntrout = 6\n"),
        )
        pool.wait(lambda: count() == 6, "the repaired scene")
        return result


@row("config broken at start", "site.toml cut off in the middle, as after a power cut", "last good one runs, banner")
def broken_start():
    with Installation() as pool:
        text = pool.site.read_text()
        pool.stop()
        pool.site.write_text(text[:9])
        begun = time.monotonic()
        try:
            pool.start()
        except Failed as failed:
            raise Failed(f"the program does not start with a broken file: {pool.log()[-300:]}") from failed
        started = time.monotonic() - begun
        pool.wait(lambda: "site_files" in pool.faults(), "the fault site_files", 30)
        faults = pool.faults()
        moves(pool)
        pool.site.write_text(text)
        recovered, _ = pool.wait(lambda: "site_files" not in pool.faults(), "the repaired file")
        return f"{', '.join(faults)} in status while the last good site runs", started, recovered


@row("folder of the site replaced", "the folder of the scenes is renamed and comes back", "show runs on")
def folder_replaced():
    with Installation() as pool:
        scene_file(pool, "[population]\ntrout = 5\n")
        pool.wait(lambda: set(pool.status()["species"]) == {"trout"}, "the new scene")
        (pool.folder / "scenes").rename(pool.folder / "away")
        time.sleep(3)
        moves(pool)
        faults = [fault for fault in pool.faults() if fault == "site_files"]
        (pool.folder / "away").rename(pool.folder / "scenes")
        recovered, _ = pool.wait(lambda: "site_files" not in pool.faults(), "the folder")
        if set(pool.status()["species"]) != {"trout"}:
            raise Failed("another pool runs after the folder came back")
        return f"faults meanwhile: {', '.join(faults) or 'none'}; the same pool runs", 3.0, recovered


class Tmpfs:
    """A small file system of its own."""

    def __init__(self, size):
        self.path = Path(tempfile.mkdtemp(prefix="shoal-disk-"))
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(self.path)], capture_output=True, check=False)
        if made.returncode:
            self.path.rmdir()
            raise Skipped("this user cannot mount a tmpfs (needs root)")

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", str(self.path)], check=False)
        self.path.rmdir()


COUNTING = '[counting]\non = true\nfile = "counts.sqlite"\n'


def arrivals(pool):
    """Returns the number of counted arrivals on the disk."""
    done = subprocess.run([SHOAL, "visitors", str(pool.site), "--csv"], capture_output=True, text=True, check=False)
    if done.returncode and "nothing was counted yet" in done.stderr:
        return 0
    if done.returncode:
        raise Failed(f"the counts cannot be read: {done.stderr}")
    return sum(int(line.split(",")[1]) for line in done.stdout.splitlines()[1:] if line.split(",")[1].isdigit())


def disk_row(break_disk, mend_disk):
    """A disk that cannot be written while visitors are counted and the site is saved."""
    with Tmpfs("3m") as folder, Installation(site=COUNTING, folder=folder) as pool:
        pool.wait(lambda: arrivals(pool) > 0, "a counted visitor", 60)
        site = pool.site.read_text()
        seen, noticed, recovered = fault_row(pool, "counting", lambda: break_disk(folder), lambda: mend_disk(folder), 90)
        counted = arrivals(pool)
        break_disk(folder)
        is_saved, _ = pool.send(edit(SITE, "camera.latency_ms", 40.0), {"command": "save"})
        text = pool.site.read_text()
        if is_saved == (text == site) or "scene" not in text:
            raise Failed(f"saved: {is_saved}, but the file is {text!r}")
        mend_disk(folder)
        pool.wait(lambda: arrivals(pool) > counted, "more counts", 60)
        return f"{seen}; the site file is whole, and the counts go on", noticed, recovered


@row("disk full", "tmpfs of 3 MB filled up while visitors are counted", "show runs on, old or new file whole")
def disk_full():
    def fill(folder):
        filler = os.open(folder / "filler", os.O_CREAT | os.O_WRONLY)
        try:
            while os.write(filler, b"x" * 4096):
                pass
        except OSError:
            os.close(filler)

    return disk_row(fill, lambda folder: (folder / "filler").unlink(missing_ok=True))


@row("disk read-only", "tmpfs mounted read-only at the start, writable later", "show runs on, counts when it is writable")
def disk_read_only():
    with Tmpfs("3m") as folder:
        (folder / "site.toml").write_text('scene = "pool"\n' + COUNTING)

        def remount(how):
            subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True, capture_output=True)

        remount("ro")
        begun = time.monotonic()
        with Installation(folder=folder) as pool:
            pool.wait(lambda: "counting" in pool.faults(), "the fault counting", 60)
            noticed = time.monotonic() - begun
            moves(pool)
            remount("rw")
            recovered, _ = pool.wait(lambda: "counting" not in pool.faults(), "the end of the fault", 60)
            pool.wait(lambda: arrivals(pool) > 0, "counts", 60)
        return "counting in status; the counts are on the disk after the remount", noticed, recovered


@row("permission lost", "the folder of the site belongs to root while a user without rights runs the pool", "show runs on")
def permission_lost():
    need("setpriv")
    if os.geteuid():
        raise Skipped("needs root to become another user")
    folder = Path(tempfile.mkdtemp(prefix="shoal-"))
    os.chown(folder, 65534, 65534)
    wrapper = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    try:
        (folder / "site.toml").write_text('scene = "pool"\n' + COUNTING)
        with Installation(folder=folder, wrapper=wrapper, camera="synthetic:1", log="warn") as pool:
            pool.wait(lambda: arrivals(pool) > 0, "a counted visitor", 60)

            def take():
                os.chown(folder, 0, 0)
                folder.chmod(0o755)
                for file in folder.glob("counts*"):
                    os.chown(file, 0, 0)
                    file.chmod(0o444)

            def give():
                for path in [folder, *folder.glob("counts*")]:
                    os.chown(path, 65534, 65534)
                    path.chmod(0o755)

            begun = time.monotonic()
            take()
            # An open file stays writable. A save needs the folder.
            is_saved, text = pool.send(edit(SITE, "camera.latency_ms", 40.0), {"command": "save"})
            noticed = time.monotonic() - begun
            if is_saved or "denied" not in text.lower():
                raise Failed(f"the save is answered with {text[:200]}")
            moves(pool)
            give()
            begun = time.monotonic()
            is_saved, text = pool.send({"command": "save"})
            if not is_saved:
                raise Failed(f"the save after the repair: {text[:200]}")
            return "the save is rejected with the reason, and works again", noticed, time.monotonic() - begun
    finally:
        shutil.rmtree(folder, ignore_errors=True)


SCHEDULE = """[schedule]
time_zone = "Europe/Berlin"
clock = "machine"
[[schedule.weekly]]
days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
hours = [{ from = "10:00", to = "18:00" }]
"""
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


def with_clock(clock):
    """Returns the environment of a program whose calendar clock shows the time in a file; its monotonic clock is the real one."""
    need(FAKETIME)
    return {
        "LD_PRELOAD": FAKETIME,
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


def clock_row(first, second, state_first, state_second):
    """A clock that jumps from one time to another."""
    folder = Path(tempfile.mkdtemp(prefix="shoal-"))
    clock = folder / "clock"
    clock.write_text(first + "\n")
    try:
        with Installation(site=SCHEDULE, camera="synthetic:1", env=with_clock(clock)) as pool:

            def state():
                return pool.status()["schedule"]["state"]

            noticed, _ = pool.wait(lambda: state() == state_first, f"the state {state_first}", 30)
            before = pool.status()
            began = time.monotonic()
            clock.write_text(second + "\n")
            recovered, _ = pool.wait(lambda: state() == state_second, f"the state {state_second}", 30)
            moves(pool)
            after = pool.status()
            passed = time.monotonic() - began
            if abs(after["uptime_secs"] - before["uptime_secs"] - passed) > 3:
                raise Failed(f"the time since the start jumped by {after['uptime_secs'] - before['uptime_secs']} s in {passed:.0f} s")
            return f"{state_first}, then {state_second}; time since the start unbroken", noticed, recovered
    finally:
        shutil.rmtree(folder)


@row("clock starts in 1970", "faketime: 1970-01-01, then a Wednesday at noon", "attract until the clock is right")
def clock_1970():
    return clock_row("@1970-01-01 00:00:10", "@2026-12-02 11:00:00", "attract", "open")


@row("clock jumps a year", "faketime: noon, then a year later at midnight", "the plan of the new time")
def clock_jump():
    return clock_row("@2026-12-02 11:00:00", "@2027-12-02 23:30:00", "open", "closed")


@row("clock jumps back", "faketime: midnight, then half a year earlier at noon", "the plan of the new time")
def clock_back():
    return clock_row("@2026-12-02 23:30:00", "@2026-06-02 10:00:00", "closed", "open")


@row("change to summer time", "faketime: one minute before 02:00 on 2027-03-28 (hours 03:00 to 04:00)", "opens at 03:00 summer time")
def clock_dst():
    folder = Path(tempfile.mkdtemp(prefix="shoal-"))
    clock = folder / "clock"
    clock.write_text("@2027-03-28 00:59:50\n")
    site = SCHEDULE.replace("10:00", "03:00").replace("18:00", "04:00")
    try:
        with Installation(site=site, camera="synthetic:1", env={**with_clock(clock), "TZ": "UTC"}) as pool:
            closed, _ = pool.wait(lambda: pool.status()["schedule"]["state"] == "closed", "closed at 01:59", 20)
            opened, _ = pool.wait(lambda: pool.status()["schedule"]["state"] == "open", "open at 03:00 summer time", 40)
            return f"{pool.status()['schedule']['local_time']}", closed, opened
    finally:
        shutil.rmtree(folder)


class Watchdog:
    """systemd's side of the notify socket."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="shoal-")
        self.path = f"{self.folder}/notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(0.2)

    def fed_within(self, seconds):
        """Returns the number of watchdog messages within a time."""
        until, count = time.monotonic() + seconds, 0
        while time.monotonic() < until:
            try:
                count += self.socket.recv(65536).count(b"WATCHDOG=1")
            except TimeoutError:
                pass
        return count


PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
# waitpid: also for threads.
WALL = 0x40000000


def thread_of(pool, name):
    """Returns the process and the thread with this name."""
    for process in pool.processes():
        for task in Path(f"/proc/{process}/task").iterdir():
            if (task / "comm").read_text().strip() == name:
                return int(task.name)
    raise Failed(f"no thread {name}")


def freeze(thread):
    """Stops one thread, as a driver does that never returns. Returns a function that lets it go on."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
        if libc.ptrace(request, thread, None, None):
            raise Skipped(f"ptrace is not allowed here: {os.strerror(ctypes.get_errno())}")
    os.waitpid(thread, WALL)
    return lambda: libc.ptrace(PTRACE_DETACH, thread, None, None)


@row("simulation hangs for 15 s", "ptrace stops the thread simulation; a fake notify socket", "watchdog not fed, then fed again")
def stage_hangs():
    watchdog = Watchdog()
    env = {"NOTIFY_SOCKET": watchdog.path, "WATCHDOG_USEC": "6000000"}
    with Installation(camera="synthetic:1", env=env) as pool:
        if not watchdog.fed_within(8):
            raise Failed("the watchdog is not fed by a healthy program")
        go_on = freeze(thread_of(pool, "simulation"))
        watchdog.fed_within(6)
        hungry = watchdog.fed_within(9)
        begun = time.monotonic()
        go_on()
        if hungry:
            raise Failed(f"the watchdog was fed {hungry} times while the simulation stood still")
        while not watchdog.fed_within(1):
            if time.monotonic() - begun > 20:
                raise Failed("the watchdog is not fed again")
        recovered = time.monotonic() - begun
        moves(pool)
        return "watchdog silent from the sixth second on, and fed again", 6.0, recovered


@row("simulation hangs for ever", "ptrace stops the thread simulation", "the program ends within 75 s, for systemd")
def stage_hangs_for_ever():
    with Installation(camera="synthetic:1") as pool:
        begun = time.monotonic()
        thread = thread_of(pool, "simulation")
        freeze(thread)
        time.sleep(50)
        while pool.process.poll() is None:
            # The end of a traced thread must be read by its tracer.
            os.waitpid(thread, os.WNOHANG | WALL)
            if time.monotonic() - begun > 90:
                pool.process.kill()
                raise Failed("the program hangs for 90 s")
            time.sleep(0.2)
        if "hung" not in pool.log():
            raise Failed(pool.log()[-200:])
        return f"ended with code {pool.process.returncode}, the reason is in the log", time.monotonic() - begun, None


@row("whole program stopped for 20 s", "SIGSTOP, SIGCONT (a machine that was paused)", "goes on, no fault of a stage")
def stopped():
    with Installation(camera="synthetic:1") as pool:
        moves(pool)
        processes = pool.processes()
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        time.sleep(20)
        for process in processes:
            os.kill(process, signal.SIGCONT)
        recovered, _ = pool.wait(pool.status, "an answer", 20)
        moves(pool)
        restarts = sum(stage["restarts"] for stage in pool.status()["stages"])
        return f"{restarts} restarts; faults: {', '.join(pool.faults()) or 'none'}", None, recovered


@row("a stage panics", "-", "restarted; three in 5 minutes end the program")
def panics():
    raise Skipped("the program has no way to panic on request; app::live::supervisor::tests and pool_queue::tests do it with stages of their own")


@row("machine hangs, process in D state", "-", "hardware watchdog")
def machine_hangs():
    raise Skipped("needs a machine with systemd as its first process; scripts/verify package checks the units")


def panel_of(pool):
    """Returns host and port of the panel, from the log."""
    _, found = pool.wait(lambda: re.search(r"http://(127\.0\.0\.1):(\d+)", pool.log()), "the address of the panel", 20)
    return found[1], int(found[2])


@row("clients flood, stall and lie", "200 stalled connections, 2,000 requests, garbage on both sockets for 20 s", "no late tick, others served")
def flood():
    with Installation(camera="synthetic:1", options=("--headless", "--panel", "local")) as pool:
        host, port = panel_of(pool)
        dropped = pool.status()
        stalled = []
        for _ in range(200):
            client = socket.create_connection((host, port), timeout=5)
            client.sendall(b"POST /api/v1/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n{")
            stalled.append(client)
        answered, begun = 0, time.monotonic()
        codes = {}
        while time.monotonic() - begun < 20:
            try:
                connection = http.client.HTTPConnection(host, port, timeout=5)
                for path in ("/healthz", "/api/v1/status", "/api/v1/../../etc/passwd", "/" + "x" * 4000):
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    answer.read()
                    codes[answer.status] = codes.get(answer.status, 0) + 1
                connection.close()
                answered += 1
            except OSError:
                codes["error"] = codes.get("error", 0) + 1
            with socket.socket(socket.AF_UNIX) as liar:
                liar.connect(str(pool.outside / "socket"))
                liar.settimeout(1)
                try:
                    liar.sendall(os.urandom(65536) + b"\n" + b"x" * 200_000)
                except OSError:
                    pass
            time.sleep(0.01)
        begun = time.monotonic()
        code, text = pool.ctl("status")
        answer_secs = time.monotonic() - begun
        late = [event for _, event in pool.events if event.get("fault") == "simulation_late"]
        status = pool.status()
        for client in stalled:
            client.close()
        if code not in (0, 3) or late:
            raise Failed(f"ctl {code} {text}; late: {late}")
        ticks = status["tick"] - dropped["tick"]
        secs = status["uptime_secs"] - dropped["uptime_secs"]
        if ticks < 0.98 * 60 * secs:
            raise Failed(f"{ticks} ticks in {secs:.1f} s")
        return f"{ticks} ticks in {secs:.1f} s; {answered} rounds of requests {codes}; ctl answered in {answer_secs:.2f} s", None, answer_secs


@row("driver update under the running program", "-", "status names the mismatch")
def driver_update():
    raise Skipped("needs a graphics card with a kernel module")


@row("suspend and resume", "-", "each output returns to its projector")
def suspend():
    raise Skipped("a container cannot suspend the machine; the row 'whole program stopped' has the same gap in time")


def main():
    words = sys.argv[1:]
    failed = skipped = 0
    lines = []
    for name, injected, wanted, measure in ROWS:
        if words and not any(word in name for word in words):
            continue
        try:
            seen, noticed, recovered = measure()
            times = " | ".join("–" if secs is None else f"{secs:.1f} s" for secs in (noticed, recovered))
            result = "ok"
        except Skipped as reason:
            seen, times, result = f"SKIPPED: {reason}", "– | –", "ok"
            skipped += 1
        except (Failed, OSError, KeyError, TypeError, subprocess.SubprocessError) as problem:
            seen, times, result = f"{type(problem).__name__}: {problem}", "– | –", "short"
            failed += 1
        print(f"| {name} | {injected} | {seen} | {times} |", flush=True)
        lines.append(f"verify: {name} | wanted {wanted} | got {seen[:70]} {times.replace(' | ', ' / ')} | {result}")
    print("\n".join(lines))
    print(f"{len(lines)} rows, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
