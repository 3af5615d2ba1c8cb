import type { Client } from './client.js';
import type { Registry } from './registry.js';
import type { Server } from './server.js';

/** What the actors of a run share: the time, and who is who. */
export interface World {
  readonly registry: Registry;
  readonly nowUs: number;
  after(afterUs: number, action: () => void): void;
  trace(line: () => string): void;
  addressOf(target: number | 'nowhere'): string;
  /** Every server that a client's request has come to. */
  serversOf(client: Client): readonly Server[];
}
