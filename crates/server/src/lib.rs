//! The bobbin binary: CLI, configuration, worker threads, event loops, doors.
