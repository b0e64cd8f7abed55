/** Longest name of a tool. Source: ToolDefinition.name. */
const NAME_LIMIT = 64;

/**
 * Makes the function that names tools of MCP servers `mcp_<server>_<tool>`: other characters become `_`, what is too long is cut, and
 * a name that was given before gets a number.
 */
export function createToolNamer(): (server: string, tool: string) => string {
  const given = new Set<string>();
  return (server, tool) => {
    const plain = `mcp_${server}_${tool}`.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, NAME_LIMIT);
    let name = plain;
    for (let number = 2; given.has(name); number += 1) {
      const mark = `_${String(number)}`;
      name = plain.slice(0, NAME_LIMIT - mark.length) + mark;
    }
    given.add(name);
    return name;
  };
}

/**
 * Whether an agent's selection offers a tool: an empty one offers every tool, an entry that ends with `*` those whose names begin
 * with the rest.
 */
export function isSelected(name: string, selection: readonly string[]): boolean {
  return (
    selection.length === 0 ||
    selection.some((entry) => (entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : entry === name))
  );
}
