"""The log of an extraction."""

import time

from clausewise.extractors.run_log import RunLog


def test_times_of_a_stage_add_up():
    log = RunLog()
    for _ in range(2):
        with log.stage("sleeping"):
            time.sleep(0.02)
    stage = log.stages["sleeping"]
    assert stage.seconds >= 0.04
    assert stage.cpu_seconds < stage.seconds
