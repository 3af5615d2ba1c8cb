import type { CmCommandTable, CmEvent } from './command.js';
import type { CmClientHost } from './host.js';

/** Each command as a method: `CmCommandTable` says what they take and give. */
export type Commands = {
  readonly [V in keyof CmCommandTable]: (argument: CmCommandTable[V][0]) => CmCommandTable[V][1];
};

/**
 * One client of the connection manager: who has identifiers, and hears of what happens to them. Ports, and the names by which
 * peers know connections, are those of the device.
 */
export class CmClient {
  /** What it has not taken, the oldest first. */
  events: CmEvent[] = [];
  /** Identifiers that it has. */
  ids = 0;

  constructor(readonly host: CmClientHost) {}

  raise(event: CmEvent): void {
    this.events.push(event);
    this.host.eventReady();
  }
}
