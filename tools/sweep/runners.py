"""Where points are computed: processes of this machine, or the workers of a Dask cluster.

Both yield results as they come. A worker that dies (out of memory, killed) is the failure of its
own point: locally each point has a process to itself, and Dask gives up on a task that has killed
several workers without touching the others.
"""

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib import import_module
from typing import Any

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.errors import describe
from xdsl_tpu.tools.sweep.point import Files, Point, run_point

Result = dict[str, Any]
Work = Sequence[tuple[str, Point]]
"""Points with their keys."""

_CONNECT_SECONDS = 10


def run_locally(work: Work, files: Mapping[str, Files], jobs: int) -> Iterator[tuple[str, Result]]:
    """Run each point in a process of its own, `jobs` at once; `files` by model name."""
    running: set[subprocess.Popen[bytes]] = set()

    def one(point: Point) -> Result:
        command = [sys.executable, "-m", "xdsl_tpu.tools.sweep.runners"]
        # Its temporary files are in a folder of ours: a process that is killed cannot remove any.
        with (
            tempfile.TemporaryFile() as problems,
            tempfile.TemporaryDirectory(prefix="tpu-sweep-worker-") as scratch,
        ):
            with subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=problems,
                env=os.environ | {"TMPDIR": scratch},
            ) as process:
                running.add(process)
                out, _ = process.communicate(pickle.dumps((point, files[point.model])))
                running.discard(process)
            if process.returncode == 0:
                return pickle.loads(out)
            problems.seek(0)
            last = problems.read().decode(errors="replace").strip().splitlines()[-1:]
        return {"status": "failed", "error": _death(process.returncode, last)}

    pool = ThreadPoolExecutor(jobs)
    futures = {pool.submit(one, point): key for key, point in work}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in tuple(running):
            process.kill()
        pool.shutdown()


def _death(status: int, last: Sequence[str]) -> str:
    if status < 0:
        return f"its process was ended by signal {-status} (out of memory?)"
    return f"its process ended with status {status}: {' '.join(last) or 'no message'}"


def run_on_dask(
    work: Work, files: Mapping[str, Files], address: str
) -> Iterator[tuple[str, Result]]:
    """Run the points on the cluster whose scheduler is at `address`.

    Raises TpuError when `distributed` is not installed or no scheduler answers.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise TpuError(
            "--scheduler needs Dask: install the extra 'cluster' (pip install 'xdsl-tpu[cluster]')"
        ) from None
    try:
        client: Any = distributed.Client(address, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise TpuError(
            f"no Dask scheduler answers at {address} within {_CONNECT_SECONDS} s: {error}"
        ) from error
    with client:
        sent = {model: client.scatter(dict(content)) for model, content in files.items()}
        futures = {
            client.submit(run_point, point, sent[point.model], key=f"tpu-sweep-{key}"): key
            for key, point in work
        }
        for future in distributed.as_completed(futures):
            error = future.exception()
            if error is None:
                yield futures[future], future.result()
            else:
                yield futures[future], {"status": "failed", "error": describe(error)}


def main() -> None:
    """One point from standard input, its result to standard output: a local worker."""
    point, files = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps(run_point(point, files)))


if __name__ == "__main__":
    main()
