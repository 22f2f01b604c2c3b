// What the checks look at: the machine as the command line found it, and what several of them need.
import { existsSync } from "node:fs";
import { type GatewayPlace, runningPlace } from "../access/running-gateway.ts";
import type { ClientWorld } from "../client-configs/client.ts";
import { clientsOf } from "../client-configs/clients.ts";
import { type Findings, findServers } from "../client-configs/find-servers.ts";
import { type LoadedConfig, loadConfig } from "../config/config.ts";
import { dataDirOf } from "../files/data-dir.ts";
import { hasState } from "../files/state-place.ts";
import type { gatewayOptions, OptionValues, Surroundings } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import { type ServerReport, surveyServers } from "./survey.ts";

export interface DoctorWorld extends Pick<Surroundings, "env" | "cwd"> {
  options: OptionValues<typeof gatewayOptions> & { config: string | undefined };
  dataDir: string;
  /** The configuration, or why it cannot be used. */
  loaded: LoadedConfig | Failure;
  /** The gateway that runs on the data directory. */
  place: GatewayPlace | undefined;
  /** The servers that other programs have in their files. */
  clients: Findings;
  hasStore: boolean;
  /** Starts every server once, at the first request. */
  survey(): Promise<ServerReport[]>;
}

export type DoctorContext = Pick<Surroundings, "env" | "cwd"> & Pick<DoctorWorld, "options">;

export function lookAround(context: DoctorContext, clientWorld: ClientWorld): DoctorWorld {
  const { env, cwd, options } = context;
  const dataDir = dataDirOf(context, options);
  const loaded = load({ given: options.config, cwd, dataDir });
  let survey: Promise<ServerReport[]> | undefined;
  return {
    env,
    cwd,
    options,
    dataDir,
    loaded,
    place: existsSync(dataDir) ? runningPlace(dataDir) : undefined,
    clients: findServers(clientsOf([]), clientWorld),
    hasStore: hasState(dataDir),
    survey() {
      survey ??= loaded instanceof Failure ? Promise.resolve([]) : surveyServers(loaded, { env, dataDir });
      return survey;
    },
  };
}

function load(places: Parameters<typeof loadConfig>[0]): LoadedConfig | Failure {
  try {
    return loadConfig(places);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
