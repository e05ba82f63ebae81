"""The memory of a department: its acts, who decided what about them, and how well people agree."""
