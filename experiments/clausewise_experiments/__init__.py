"""The paper's evaluation: its tasks, protocol, tables and figures, compared with the published numbers."""

from clausewise_experiments.data import DataNotFoundError, TaskData, load_task
from clausewise_experiments.settings import TaskSettings, load_settings, task_names

__all__ = ["DataNotFoundError", "TaskData", "TaskSettings", "load_settings", "load_task", "task_names"]
