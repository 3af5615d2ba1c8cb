import type { Context, Pd } from '../verbs/index.js';
import type { AddrInfo } from './addr-info.js';
import type { CmId } from './cm-id.js';
import { notYet } from './not-yet.js';
import type { IdQpInitAttr } from './parameters.js';

/** What `createEp` can be asked for. */
export interface CreateEpOptions {
  /** Anything of the caller's; comes back as `id.context`. */
  readonly context?: unknown;
  /** As in `EventChannelOptions`. */
  readonly contexts?: readonly Context[];
}

/**
 * Makes a synchronous identifier and its queue pair (`rdma_create_ep`). An active one is ready to connect; a passive one
 * is ready to listen, and gives a queue pair like that to every identifier that `getRequest` returns.
 *
 * @param pd default: one that all identifiers on the device share
 * @param qpInit without it there is no queue pair
 * @throws VerbsError as `bindAddr`, `resolveAddr`, `resolveRoute` and `createQp`
 */
export function createEp(addrInfo: AddrInfo, pd?: Pd, qpInit?: IdQpInitAttr, options: CreateEpOptions = {}): CmId {
  return notYet(addrInfo, pd, qpInit, options);
}
