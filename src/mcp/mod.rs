//! The client: reaches a server, speaks MCP, and keeps every byte.
