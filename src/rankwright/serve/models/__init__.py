"""The models and indexes in service: loaded, reloaded, shadowed and interleaved."""
