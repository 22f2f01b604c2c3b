// What is used of the package @stoprocent/noble: Bluetooth of this machine, as the side that connects.

export interface BleLibrary {
  /** A central of its own, which begins when its state is asked for. */
  withBindings(): BleCentral;
}

export interface BleCentral {
  readonly state: string;
  waitForPoweredOnAsync(timeoutMs: number): Promise<void>;
  startScanning(services: string[], hasDuplicates: boolean, done: (error?: Error | null) => void): void;
  stopScanning(done: (error?: Error | null) => void): void;
  on(event: "discover", take: (peripheral: BlePeripheral) => void): unknown;
  on(event: "scanStop", take: () => void): unknown;
  on(event: "stateChange", take: (state: string) => void): unknown;
  stop(): void;
}

export interface BlePeripheral {
  readonly address: string;
  readonly state: string;
  readonly advertisement: { readonly localName?: string | undefined };
  connectAsync(): Promise<void>;
  cancelConnect(): void;
  disconnect(done: () => void): void;
  discoverSomeServicesAndCharacteristicsAsync(
    services: string[],
    characteristics: string[],
  ): Promise<{ characteristics: BleCharacteristic[] }>;
  on(event: "mtu", take: (mtu: number) => void): unknown;
  on(event: "disconnect", take: (reason: unknown) => void): unknown;
  removeListener(event: "mtu" | "disconnect", take: (given: never) => void): unknown;
}

export interface BleCharacteristic {
  readonly uuid: string;
  readonly properties: readonly string[];
  subscribeAsync(): Promise<void>;
  writeAsync(data: Buffer, isWithoutResponse: boolean): Promise<void>;
  on(event: "data", take: (data: Buffer) => void): unknown;
}
