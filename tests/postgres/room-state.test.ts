// What rooms keep beside their logs, on a real PostgreSQL: the cases of every sibling.
import { createPostgresRoomState, roomsOnPostgres } from "@mcpx/gateway";
import { migratePostgres, openPostgresSession, readPostgresAddress } from "@mcpx/host";
import { afterAll, describe, onTestFinished } from "vitest";
import { roomStateCases } from "../../packages/gateway/src/state/room-state-cases.ts";
import { startPostgres } from "../support/postgres-server.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

describe("the rooms' state on PostgreSQL", () => {
  roomStateCases(async () => {
    const address = readPostgresAddress(server.url());
    await migratePostgres(address, roomsOnPostgres);
    const open = async () => {
      const session = await openPostgresSession(address);
      onTestFinished(() => session.close());
      return createPostgresRoomState(session);
    };
    return { state: await open(), open };
  });
});
