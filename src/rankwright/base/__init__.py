"""What every room uses: errors, arrays, threads, memory, files, and the wording of numbers and names."""
