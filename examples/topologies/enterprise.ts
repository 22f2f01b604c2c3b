// Enterprise: three services register with one root that has no segment of its own. [AX-C-1]
//
//              model
//                │
//         root aggregator
//        ┌───────┼──────────┐
//  google_drive jira   salesforce
import assert from "node:assert/strict";
import { connectModel, hopsOf } from "./support/model-client.ts";
import { registerServer } from "./support/register-server.ts";
import { startTree } from "./support/start-tree.ts";

await using root = await startTree();

await using _drive = await registerServer(root, "google_drive", {
  tools: [{ name: "search", description: "Finds files", answer: () => "plan.pdf" }],
});
await using _jira = await registerServer(root, "jira", {
  tools: [
    { name: "find_issues", description: "Finds issues", answer: () => "OPS-7: the oven is cold" },
    {
      name: "close_issue",
      description: "Closes an issue, which can be opened again",
      capability: { mutable: true, auth_scope: "write" },
      answer: () => "OPS-7 is closed",
    },
  ],
});
await using _salesforce = await registerServer(root, "salesforce", {
  tools: [{ name: "find_account", description: "Finds an account", answer: () => "The bakery" }],
});

await using model = await connectModel(root);
const tools = await model.expectTools([
  "google_drive.search",
  "jira.close_issue",
  "jira.find_issues",
  "salesforce.find_account",
]);
for (const tool of tools.values()) assert.equal(hopsOf(tool), 1);
assert.equal(await model.call("jira.find_issues"), "OPS-7: the oven is cold");
assert.equal(await model.call("salesforce.find_account"), "The bakery");
console.log(await root.picture());
console.log("done");
