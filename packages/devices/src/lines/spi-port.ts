// An SPI bus with one device selected, as its master sees it. [AX-8.1-3]

export interface SpiPort {
  /** Chip select goes down before the first byte and up after the last; for each one comes back. */
  transfer(bytes: Uint8Array): Promise<Uint8Array>;
  close(): void;
}

/** Rejects where it cannot be opened. */
export type OpenSpiPort = () => Promise<SpiPort>;
