import type { EventType } from '../../device/ibta/index.js';
import type { Cq } from './completion.js';
import type { Qp } from './queue-pair.js';
import type { Srq } from './shared-receive-queue.js';
import type { XrcTargetQp } from './xrc-domain.js';

type Event = typeof EventType;

/** Something happened to a QP. */
export interface QpEvent {
  readonly eventType: Event[
    | 'QP_FATAL'
    | 'QP_REQ_ERR'
    | 'QP_ACCESS_ERR'
    | 'COMM_EST'
    | 'SQ_DRAINED'
    | 'PATH_MIG'
    | 'PATH_MIG_ERR'
    | 'QP_LAST_WQE_REACHED'];
  readonly qp: Qp | XrcTargetQp;
}

/** A CQ is lost: it was overrun. */
export interface CqEvent {
  readonly eventType: Event['CQ_ERR'];
  readonly cq: Cq;
}

/** A shared receive queue failed, or has fewer requests than its limit. */
export interface SrqEvent {
  readonly eventType: Event['SRQ_ERR' | 'SRQ_LIMIT_REACHED'];
  readonly srq: Srq;
}

/** Something happened to a port. */
export interface PortEvent {
  readonly eventType: Event[
    | 'PORT_ACTIVE'
    | 'PORT_ERR'
    | 'LID_CHANGE'
    | 'PKEY_CHANGE'
    | 'SM_CHANGE'
    | 'CLIENT_REREGISTER'
    | 'GID_CHANGE'
    | 'DEVICE_SPEED_CHANGE'];
  readonly portNum: number;
}

/** The device is lost. */
export interface DeviceEvent {
  readonly eventType: Event['DEVICE_FATAL'];
}

/**
 * `struct ibv_async_event`: what happened without a completion to say so (protocol.md 3.11). It needs no
 * acknowledgement: an object that an event names may be destroyed at any time. WQ_FATAL is never raised, since there are
 * no such objects.
 */
export type AsyncEvent = QpEvent | CqEvent | SrqEvent | PortEvent | DeviceEvent;
