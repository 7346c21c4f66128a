"""The rows of the fault measurements: their registry, and what all of them use."""

import shutil
import time
from pathlib import Path

from installation import Failed, Skipped

ROWS = []


def row(name, injected, wanted):
    """Registers a measurement. It returns a text (what was seen), the time to the report and the time to the recovery."""
    return lambda measure: ROWS.append((name, injected, wanted, measure)) or measure


def need(*programs):
    """Skips a row if a program is missing."""
    for program in programs:
        if not (shutil.which(program) or Path(program).exists()):
            raise Skipped(f"{program} is not installed")


def seen_everywhere(pool, fault, since, begun=True):
    """Returns where a fault was reported: status is known to the caller; events, log and alerts are looked up."""
    kind = "fault_began" if begun else "fault_ended"
    places = []
    deadline = time.monotonic() + 6.0
    while time.monotonic() < deadline and len(places) < 3:
        events = [e for at, e in list(pool.events) if at >= since and e.get("event") == kind and e.get("fault") == fault]
        word = '"fault"' if begun else '"recovered"'
        messages = [m for m in pool.messages().splitlines() if word in m and fault in m]
        logged = fault in pool.log() or fault.split(".")[-1] in pool.log()
        places = ["event"] * bool(events) + ["log"] * logged + ["alert"] * bool(messages)
        time.sleep(0.2)
    if len(places) < 3:
        raise Failed(f"{fault} {kind}: only in status, {', '.join(places)}")
    return places


def moves(pool, seconds=1.0):
    """Fails if the simulation does not go on."""
    before = pool.status()["tick"]
    time.sleep(seconds)
    ticks = pool.status()["tick"] - before
    if ticks < 20 * seconds:
        raise Failed(f"the pool made only {ticks} ticks in {seconds:.0f} s")


def fault_row(pool, fault, inject, repair, timeout=60.0):
    """Injects a fault, waits until it is reported everywhere, repairs it, and waits until its end is reported everywhere."""
    begun = time.monotonic()
    inject()
    noticed, _ = pool.wait(lambda: fault in pool.faults(), f"the fault {fault}", timeout)
    seen_everywhere(pool, fault, begun)
    moves(pool)
    mended = time.monotonic()
    repair()
    recovered, _ = pool.wait(lambda: fault not in pool.faults(), f"the end of {fault}", timeout)
    seen_everywhere(pool, fault, mended, begun=False)
    return f"{fault}: status, event, log, alert, and their ends", noticed, recovered
