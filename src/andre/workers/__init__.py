"""Parallel tasks, in processes of this machine, on a dask cluster, or by any executor.

The tasks of one job read the same facts. `run_tasks` packs these once: processes of
one machine map them from a file into shared memory, and each worker of a cluster
receives them once, however many tasks it gets.
"""

from andre.workers.cluster import memory_of
from andre.workers.executors import MakesExecutor, Workers, as_executor, workers
from andre.workers.tasks import Task, run_tasks

__all__ = ["MakesExecutor", "Task", "Workers", "as_executor", "memory_of", "run_tasks", "workers"]
