//! A raw JSON-RPC server core and the sample that runs on it.
