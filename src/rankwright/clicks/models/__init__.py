"""Click models: what users examine and what attracts them, estimated from a log."""
