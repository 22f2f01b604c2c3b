// What programs that embed the gateway import: the same as of @mcpx/cli.

export * from "@mcpx/cli";
