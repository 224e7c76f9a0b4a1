"""Used by every room: errors, arrays, threads, memory, files, and the wording of numbers and names."""
