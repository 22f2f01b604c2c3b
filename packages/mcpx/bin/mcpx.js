#!/usr/bin/env node
// The name people type. The launcher, which finds a Node that can, is in @mcpx/cli.
import "@mcpx/cli/launcher";
