import { type Gid, PortSpace } from '../../ibta/index.js';
import type { CmClient } from '../host.js';
import type { Connection } from '../connections/connection.js';
import type { Listener } from '../listener.js';
import type { ResolutionRequest } from '../resolution/resolution-request.js';
import type { Resolution } from '../resolution/resolution.js';

/** What a program's `rdma_cm_id` is here: a number, a port, and what it is used for. */
export interface Identifier {
  readonly id: number;
  readonly client: CmClient;
  readonly portSpace: PortSpace;
  /** Of its own; that of a request belongs to the listener. */
  port: number | undefined;
  /** Once it connects, or was made by a request. */
  peer: { readonly gid: Gid; readonly port: number } | undefined;
  /** Of its datagram queue pair; undefined before it is known. It does not change then. */
  qkey: number | undefined;
  listener: Listener | undefined;
  conversation: Connection | Resolution | ResolutionRequest | undefined;
}

/** States of `rdma_cm_id` in Linux, as far as a device knows them. */
export type CmIdState = 'IDLE' | 'ADDR_BOUND' | 'LISTEN' | 'CONNECT' | 'DISCONNECT';

/** What Linux's `rdma resource show cm_id` prints of an identifier. */
export interface ShownCmId {
  readonly id: number;
  readonly client: CmClient;
  readonly portSpace: PortSpace;
  readonly state: CmIdState;
  readonly port: number | undefined;
  readonly peer: { readonly gid: Gid; readonly port: number } | undefined;
  readonly qpNum: number | undefined;
}

/** Whether identifiers of a port space connect datagram queue pairs. */
export function isDatagramSpace(portSpace: PortSpace): boolean {
  return portSpace === PortSpace.UDP || portSpace === PortSpace.IPOIB;
}
