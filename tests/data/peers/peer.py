"""A server of both eras: over stdio, or with a port over Streamable HTTP. Made with the public Python SDK."""

import sys

from mcp.server.mcpserver import Context, MCPServer

mcp = MCPServer("peer")


@mcp.tool()
def add(a: int, b: int) -> int:
    return a + b


@mcp.tool()
async def touch(ctx: Context) -> str:
    """Says that tools and the note changed."""
    await ctx.notify_tools_changed()
    await ctx.notify_resource_updated("note://1")
    return "touched"


@mcp.resource("note://1")
def note() -> str:
    return "one"


if len(sys.argv) > 1:
    mcp.run("streamable-http", port=int(sys.argv[1]))
else:
    mcp.run()
