// Where the tree's own tools stand.
export const ownSegment = "mcpax";
