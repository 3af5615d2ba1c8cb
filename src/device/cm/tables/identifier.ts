import { PortSpace } from '../../ibta/index.js';
import type { CmClient } from '../client.js';
import type { Connection } from '../connections/connection.js';
import type { Listener } from '../listener.js';
import type { ResolutionRequest } from '../resolution/resolution-request.js';
import type { Resolution } from '../resolution/resolution.js';

/** What a program's `rdma_cm_id` is here: a number, a port, and what it is used for. */
export interface Identifier {
  readonly id: number;
  /** Who has it, and nobody else knows it. */
  readonly client: CmClient;
  readonly portSpace: PortSpace;
  /** Of its own; that of a request belongs to the listener. */
  port: number | undefined;
  listener: Listener | undefined;
  conversation: Connection | Resolution | ResolutionRequest | undefined;
}

/** Whether identifiers of a port space connect datagram queue pairs. */
export function isDatagramSpace(portSpace: PortSpace): boolean {
  return portSpace === PortSpace.UDP || portSpace === PortSpace.IPOIB;
}
