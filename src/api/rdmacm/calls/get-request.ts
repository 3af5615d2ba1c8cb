import { CmEventType, QpType } from '../../../device/ibta/index.js';
import { invalid, show, VerbsError } from '../../verbs/index.js';
import { unexpectedEvent } from '../events/event-error.js';
import { type Identity, identityOf } from '../identifiers/identity.js';
import type { CmId } from '../objects.js';

const GET_REQUEST = 'rdma_get_request';
const WRITE_EVENT = 'rdma_write_cm_event';
const MAX_ARG = 0xffff_ffff_ffff_ffffn;

/** Implements `rdma_get_request`. */
export function getRequest(identity: Identity, timeoutMs: number | undefined): CmId {
  identity.require('getRequest');
  if (!identity.synchronous)
    throw new VerbsError(GET_REQUEST, invalid('the identifier has a channel', 'Its requests are events there'));
  identity.settleEvent();
  const event = identity.queue.take(timeoutMs);
  if (event.event !== CmEventType.CONNECT_REQUEST) {
    identity.event = event;
    throw unexpectedEvent(GET_REQUEST, event);
  }
  const { id } = event;
  identityOf(id).event = event;
  const { template } = identity;
  if (template === undefined) return id;
  try {
    if (id.qpType === QpType.XRC_RECV) id.createTargetQp();
    else id.createQp(template.pd, template.init);
  } catch (error) {
    id[Symbol.dispose]();
    throw error;
  }
  return id;
}

/** Implements `rdma_write_cm_event`. */
export function writeCmEvent(identity: Identity, event: CmEventType, status: number, arg: bigint): void {
  identity.require('writeCmEvent');
  if (event !== CmEventType.USER)
    throw new VerbsError(WRITE_EVENT, invalid(`event is ${show(event)}`, 'Programs can raise USER only'));
  if (!Number.isInteger(status))
    throw new VerbsError(WRITE_EVENT, invalid(`status is ${show(status)}`, 'It is a whole number'));
  if (typeof arg !== 'bigint' || arg < 0n || arg > MAX_ARG)
    throw new VerbsError(WRITE_EVENT, invalid(`arg is ${show(arg)}`, 'It is a bigint of 64 bits'));
  identity.raise({ event, status, param: { arg } });
}
