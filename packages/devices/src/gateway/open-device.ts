// One device in the tree for as long as this runs: its line is opened again and again, it is asked whether it is there,
// registered once it has shown itself, degraded while it is silent. A device waits for no other. [AX-B-3] [AX-B-8]
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type RegisterOptions,
  registerWith,
  type Subserver,
  type TransportClass,
} from "@mcpx/client/subserver";
import { defaultLimits, type JsonObject, type Limits, parseExact } from "@mcpx/protocol";
import type { Line, OpenLine } from "../lines/line.ts";
import { checkDeviceConfig, type DeviceConfig } from "./device-config.ts";
import { createDeviceServer, type DeviceServer } from "./device-server.ts";
import { createEventOutbox, type EventOutbox } from "./event-outbox.ts";
import { createLineMeter, type LineLimits, type LineMeter } from "./line-meter.ts";
import { notificationOf, type SaidEvent } from "./read-event.ts";
import type { Stub } from "./stub.ts";
import { createStubA } from "./stub-a.ts";
import { createStubB } from "./stub-b.ts";

export interface DeviceOptions {
  config: DeviceConfig;
  openLine: OpenLine;
  /** The aggregator. */
  url: string;
  registration: Pick<RegisterOptions, "token" | "subserverId" | "heartbeatMs" | "openSocket" | "transport">;
  /** How much its line may bring, and how often it may say something unasked; the defaults unless given. */
  limits?: (LineLimits & Pick<Limits, "deviceEventsPerSecond">) | undefined;
  /** When what its line has brought is read, in the order it came; at once unless given. */
  inTurn?: ((work: () => void) => void) | undefined;
  /** Called for everything that happens to the device. */
  onEvent?: ((event: DeviceEvent) => void) | undefined;
}

export type DeviceEvent =
  | { event: "here" }
  /** Not (yet) there: nobody answers, or somebody else does. Told when the reason changes. */
  | { event: "absent"; why: string }
  | { event: "silent"; why: string }
  /** It announced itself; `isChanged`: with other tools than before, and those that are missing are told anew. */
  | { event: "restarted"; isChanged: boolean }
  | { event: "registered" | "deregistered" }
  /** Not registered, or no longer; tried again at the next heartbeat. */
  | { event: "refused"; why: string }
  /** Of a tool that is configured, and that the device does not have or has with other types. */
  | { event: "missing_tool"; name: string }
  /** So many things on its line could not be read since this was told last, the newest of them for this reason. */
  | { event: "dropped"; why: string; count: number };

const greetMs = 1_000;
const missedMax = 3;
/** How often it is told that something could not be read. */
const droppedToldMs = 1_000;
/** It is told at once of so many restarts within so long; of more, as of one, when that is over. */
const restarts = { max: 16, withinMs: 10_000 };
const reopenMs = { least: 100, most: 5_000 };
/** How long a silent device stays listed. [AX-13.2-2] */
const graceMs = 300_000;

export class Device implements AsyncDisposable {
  readonly stub: Stub;
  readonly #options: DeviceOptions;
  readonly #closing = new AbortController();
  readonly #run: Promise<void>;
  #silentSince: Date | undefined = new Date();
  #absentWhy: string | undefined;
  #heardAtMs = 0;
  #meter: LineMeter | undefined;
  #dropped = { count: 0, why: "", toldAtMs: Number.NEGATIVE_INFINITY };
  #toolsTold = "";
  #restarts = { count: 0, sinceMs: Number.NEGATIVE_INFINITY };
  readonly #outbox: EventOutbox;
  #subserver: Subserver | undefined;
  #server: DeviceServer | undefined;

  constructor(options: DeviceOptions) {
    checkDeviceConfig(options.config);
    this.#options = options;
    this.#outbox = createEventOutbox((options.limits ?? defaultLimits).deviceEventsPerSecond);
    const create = options.config.profile === "a" ? createStubA : createStubB;
    this.stub = create(options.config, {
      dropped: (why) => this.#drop(why),
      heard: () => {
        this.#meter?.heard();
        this.#heardAtMs = performance.now();
      },
      said: (event) => this.#keepEvent(event),
      restarted: () => this.#restart(),
      replaced: () => this.#fall("another device is on its line"),
    });
    this.#run = this.#live();
  }

  get isHere(): boolean {
    return this.#silentSince === undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    // Nobody waits for what a device that is left may still say.
    this.stub.conversation.use(undefined);
    await this.#run;
    await this.#subserver?.close();
  }

  #tell(event: DeviceEvent): void {
    this.#options.onEvent?.(event);
  }

  /** Told at once, and then of all that follow once a second: a line of noise has thousands. */
  #drop(why: string): void {
    this.#dropped.count += 1;
    this.#dropped.why = why;
    this.#tellDropped();
  }

  #tellDropped(): void {
    const { count, why, toldAtMs } = this.#dropped;
    const nowMs = performance.now();
    if (count === 0 || nowMs - toldAtMs < droppedToldMs) return;
    this.#dropped = { count: 0, why: "", toldAtMs: nowMs };
    this.#tell({ event: "dropped", why, count });
  }

  get #heartbeatMs(): number {
    return this.#options.config.heartbeatMs ?? 5_000;
  }

  async #live(): Promise<void> {
    let waitMs = reopenMs.least;
    while (!this.#closing.signal.aborted) {
      try {
        if (await this.#liveOnLine()) waitMs = reopenMs.least;
      } catch (error) {
        // Whatever it is, other devices go on, and this one is tried again.
        this.#lose(wordsOf(error));
      }
      await this.#pause(waitMs);
      waitMs = Math.min(waitMs * 2, reopenMs.most);
    }
  }

  /** Whether the device was there. */
  async #liveOnLine(): Promise<boolean> {
    await this.#leaveAfterGrace();
    const ended = Promise.withResolvers<string>();
    const line = await this.#open(ended.resolve);
    if (line === undefined) return false;
    this.stub.conversation.use(line);
    try {
      return await this.#watch(ended.promise);
    } finally {
      this.stub.conversation.use(undefined);
      line.close();
    }
  }

  async #open(ended: (why: string) => void): Promise<Line | undefined> {
    let line: Line | undefined;
    const bytes = this.#metered(() => line, ended);
    const opening = this.#options.openLine({ bytes, ended });
    try {
      line = await this.#unlessClosing(opening);
      return line;
    } catch (error) {
      this.#lose(wordsOf(error));
      return undefined;
    }
  }

  /** No more than it may bring; one that brings only noise is as good as ended. [AX-10.4-1] */
  #metered(line: () => Line | undefined, ended: (why: string) => void): (bytes: Uint8Array) => void {
    const { limits = defaultLimits, inTurn = (work) => work() } = this.#options;
    const meter = createLineMeter(limits, performance.now());
    const read = this.stub.readLine();
    let isOver = false;
    let pausedUntilMs = 0;
    this.#meter = meter;
    const readNow = (bytes: Uint8Array) => {
      if (isOver) return;
      meter.reads(bytes.length, performance.now());
      read(bytes);
      isOver = meter.isNoise();
      if (isOver)
        ended(`it brings noise: ${limits.deviceNoiseBytesMax} bytes without one that could be read`);
    };
    return (bytes) => {
      const nowMs = performance.now();
      if (isOver || nowMs < pausedUntilMs) return;
      const pauseMs = meter.charge(bytes.length, nowMs);
      if (pauseMs > 0) pausedUntilMs = pause(line(), pauseMs, nowMs);
      inTurn(() => readNow(bytes));
    };
  }

  /** A line that opens when nobody wants it any more is closed. */
  async #unlessClosing(opening: Promise<Line>): Promise<Line | undefined> {
    const { signal } = this.#closing;
    const left = Promise.withResolvers<undefined>();
    const leave = () => left.resolve(undefined);
    signal.addEventListener("abort", leave, { once: true });
    const line = await Promise.race([opening, left.promise]).finally(() =>
      signal.removeEventListener("abort", leave),
    );
    if (line === undefined)
      opening.then(
        (late) => late.close(),
        () => {},
      );
    return line;
  }

  /** Until the line ends; whether the device was there. */
  async #watch(ended: Promise<string>): Promise<boolean> {
    let isOver = false;
    let wasHere = false;
    const over = ended.then((why) => {
      isOver = true;
      // Nobody waits for an answer that cannot come any more.
      this.stub.conversation.use(undefined);
      this.#lose(`its line has ended: ${why}`);
    });
    let missed = 0;
    while (!isOver && !this.#closing.signal.aborted) {
      const isAnswering = await this.#look();
      missed = isAnswering ? 0 : missed + 1;
      wasHere ||= this.isHere;
      if (this.isHere && this.#subserver === undefined) this.#tryRegister();
      if (missed >= missedMax) this.#fall("it does not answer");
      await this.#leaveAfterGrace();
      // A device that has not shown itself yet is asked more often than one that is there.
      const waitMs = this.isHere ? this.#heartbeatMs : Math.min(this.#heartbeatMs, greetMs);
      await Promise.race([over, this.#pause(waitMs)]);
    }
    return wasHere;
  }

  /** Whether it is there: what it has said lately counts as much as a heartbeat. */
  async #look(): Promise<boolean> {
    this.#tellDropped();
    this.#tellLateRestart();
    if (!this.isHere) {
      const fault = await this.stub.greet(greetMs);
      if (fault === undefined) this.#rise();
      else this.#miss(fault);
      return fault === undefined;
    }
    if (performance.now() - this.#heardAtMs < this.#heartbeatMs) return true;
    return this.stub.heartbeat(greetMs);
  }

  #miss(why: string): void {
    if (why !== this.#absentWhy) this.#tell({ event: "absent", why });
    this.#absentWhy = why;
    // Nobody knows which device said them.
    for (const _ of this.#outbox.take()) this.#drop("an event of a device that did not show itself");
  }

  #rise(): void {
    this.#silentSince = undefined;
    this.#absentWhy = undefined;
    this.#tell({ event: "here" });
    this.#tellTools();
    this.#tellEvents();
  }

  #keepEvent(said: SaidEvent): void {
    const dropped = this.#outbox.put(notificationOf(said, randomUUID()), performance.now());
    if (dropped !== undefined) this.#drop(dropped);
    this.#tellEvents();
  }

  /** Until the device has shown itself, and its server is connected, they wait. */
  #tellEvents(): void {
    if (!this.isHere || this.#server?.isHeard !== true) return;
    for (const notification of this.#outbox.take()) this.#notify(notification, "an event");
  }

  /** A device that announces itself without end is logged, and makes the tree look again, only so often. [AX-10.4-1] */
  #restart(): void {
    const nowMs = performance.now();
    if (nowMs - this.#restarts.sinceMs >= restarts.withinMs) this.#restarts = { count: 0, sinceMs: nowMs };
    this.#restarts.count += 1;
    if (this.#restarts.count <= restarts.max) this.#tellRestart();
  }

  #tellLateRestart(): void {
    const { count, sinceMs } = this.#restarts;
    if (count <= restarts.max || performance.now() - sinceMs < restarts.withinMs) return;
    this.#restarts = { count: 0, sinceMs: Number.NEGATIVE_INFINITY };
    this.#tellRestart();
  }

  /** After a restart the device may have other tools. */
  #tellRestart(): void {
    const isChanged = this.isHere && this.#toolNames() !== this.#toolsTold;
    this.#tell({ event: "restarted", isChanged });
    if (isChanged) this.#tellTools();
  }

  #tellTools(): void {
    this.#toolsTold = this.#toolNames();
    const has = new Set(this.stub.tools());
    for (const tool of this.#options.config.tools) {
      if (!has.has(tool)) this.#tell({ event: "missing_tool", name: tool.name });
    }
    this.#listChanged();
  }

  #toolNames(): string {
    return this.stub
      .tools()
      .map(({ name }) => name)
      .join();
  }

  #lose(why: string): void {
    if (this.isHere) this.#fall(why);
    else this.#miss(why);
  }

  #fall(why: string): void {
    if (!this.isHere) return;
    this.#silentSince = new Date();
    this.#tell({ event: "silent", why });
    this.#listChanged();
  }

  /** What cannot be meant is refused before anything is sent. */
  #tryRegister(): void {
    try {
      this.#register();
    } catch (error) {
      this.#tell({ event: "refused", why: wordsOf(error) });
    }
  }

  #register(): void {
    const { config, url, registration } = this.#options;
    const transport = transportOf(config);
    const { stub } = this;
    const device = {
      segment: config.segment,
      transport,
      stub,
      silentSince: () => this.#silentSince,
      heard: () => this.#tellEvents(),
    };
    const subserver = registerWith(url, {
      ...registration,
      // A number that would be rounded is refused, and not called with another.
      parse: parseExact,
      segment: config.segment,
      transportClass: transport,
      capabilities: { tools: true, resources: false, prompts: false, notifications: true },
      server: () => {
        this.#server = createDeviceServer(device);
        return this.#server;
      },
      onState: (state) => {
        if (state === "registered") this.#tell({ event: "registered" });
      },
    });
    this.#subserver = subserver;
    void subserver.ended.then((error) => {
      if (this.#subserver === subserver) this.#subserver = undefined;
      if (error !== undefined) this.#tell({ event: "refused", why: error.message });
    });
  }

  /** Where it is not connected just now, the next registration lists afresh. */
  #listChanged(): void {
    this.#notify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }, "the change");
  }

  #notify(notification: JsonObject, what: string): void {
    this.#server
      ?.notify(notification)
      .catch((error: Error) => this.#drop(`${what} could not be sent: ${error.message}`));
  }

  async #leaveAfterGrace(): Promise<void> {
    const isOver = this.#silentSince !== undefined && Date.now() - this.#silentSince.getTime() > graceMs;
    if (!isOver || this.#subserver === undefined) return;
    await this.#subserver.close();
    this.#subserver = undefined;
    this.#tell({ event: "deregistered" });
  }

  async #pause(ms: number): Promise<void> {
    try {
      await sleep(ms, undefined, { signal: this.#closing.signal, ref: true });
    } catch (error) {
      if (!this.#closing.signal.aborted) throw error;
    }
  }
}

/** Until when what still comes is lost, because the line cannot wait. */
function pause(line: Line | undefined, ms: number, nowMs: number): number {
  if (line?.pause === undefined) return nowMs + ms;
  line.pause(ms);
  return 0;
}

/** Some errors of the network have a code and no words. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || String((error as { code?: unknown }).code ?? error.name);
}

function transportOf({ profile, encoding, transport }: DeviceConfig): TransportClass {
  if (profile === "a") return "native";
  return transport ?? (encoding === "json" ? "mqtt_json" : "uart_cbor");
}

/** Returns at once; the device comes when it can. Throws where its configuration cannot be meant. */
export function openDevice(options: DeviceOptions): Device {
  return new Device(options);
}
