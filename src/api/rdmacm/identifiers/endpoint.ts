import { QpType } from '../../../device/ibta/index.js';
import { type FieldsOf, fieldsProblem, objectProblem, type Pd, refuse } from '../../verbs/index.js';
import type { ActiveAddrInfo, AddrInfo, PassiveAddrInfo } from '../addresses/addr-info.js';
import { choiceFields, type DeviceChoice } from '../addresses/devices.js';
import { createId } from './create-id.js';
import { identityOf } from './identity.js';
import type { IdQpInitAttr } from './parameters.js';
import type { CmId } from '../objects.js';

const CALL = 'rdma_create_ep';

/** What `createEp` can be asked for. */
export interface CreateEpOptions extends DeviceChoice {
  /** Anything of the caller's; comes back as `id.context`. */
  readonly context?: unknown;
  /** As in `CreateIdOptions`; of the calls in here, too. */
  readonly timeoutMs?: number;
}

const FIELDS: FieldsOf<CreateEpOptions> = { ...choiceFields, context: true, timeoutMs: true };

/**
 * Makes a synchronous identifier and its queue pair (`rdma_create_ep`). An active one is ready to connect; a passive one
 * is ready to listen, and gives a queue pair like that to every identifier that `getRequest` returns.
 *
 * @param pd default: one that all identifiers on the device share
 * @param qpInit without it there is no queue pair
 * @throws VerbsError as `bindAddr`, `resolveAddr`, `resolveRoute` and `createQp`
 */
export function createEp(addrInfo: AddrInfo, pd?: Pd, qpInit?: IdQpInitAttr, options: CreateEpOptions = {}): CmId {
  refuse(CALL, objectProblem('addrInfo', addrInfo) ?? fieldsProblem('options', options, FIELDS));
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

function setUpPassive(
  id: CmId,
  { src, qpType }: PassiveAddrInfo,
  pd: Pd | undefined,
  qpInit: IdQpInitAttr | undefined,
): void {
  id.bindAddr(src);
  if (qpInit !== undefined) identityOf(id).template = { pd, init: { ...qpInit, qpType } };
}

function setUpActive(id: CmId, info: ActiveAddrInfo, pd: Pd | undefined, qpInit: IdQpInitAttr | undefined): void {
  const { src, dst, qpType } = info;
  id.resolveAddr(dst, { source: src });
  id.resolveRoute();
  if (qpInit === undefined) return;
  if (qpType === QpType.XRC_RECV) id.createTargetQp();
  else id.createQp(pd, { ...qpInit, qpType });
}
