import { QpType } from '../spec/index.js';
import { type Context, invalid, objectProblem, type Pd, refuse, VerbsError } from '../verbs/index.js';
import type { AddrInfo } from './addr-info.js';
import { type CmId, createId } from './cm-id.js';
import { identityOf } from './identity.js';
import type { IdQpInitAttr } from './parameters.js';

const CALL = 'rdma_create_ep';

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
  refuse(CALL, objectProblem('addrInfo', addrInfo) ?? objectProblem('options', options));
  const { qpType, portSpace } = addrInfo;
  const id = createId(undefined, portSpace, { ...options, qpType });
  try {
    if (addrInfo.passive) setUpPassive(id, addrInfo, pd, qpInit);
    else setUpActive(id, addrInfo, pd, qpInit);
  } catch (error) {
    id[Symbol.dispose]();
    throw error;
  }
  return id;
}

function setUpPassive(id: CmId, { src, qpType }: AddrInfo, pd: Pd | undefined, qpInit: IdQpInitAttr | undefined): void {
  id.bindAddr(src ?? {});
  if (qpInit !== undefined) identityOf(id).template = { pd, init: { ...qpInit, qpType } };
}

function setUpActive(id: CmId, info: AddrInfo, pd: Pd | undefined, qpInit: IdQpInitAttr | undefined): void {
  const { src, dst, qpType } = info;
  if (dst === undefined)
    throw new VerbsError(CALL, invalid('addrInfo has no destination', 'Or say that it is passive'));
  id.resolveAddr(dst, { source: src });
  id.resolveRoute();
  if (qpInit === undefined) return;
  if (qpType === QpType.XRC_RECV) id.createTargetQp();
  else id.createQp(pd, { ...qpInit, qpType });
}
