import { EventType } from '../../../../device/ibta/index.js';
import type { AsyncEvent } from '../../../../api/verbs/index.js';
import type { ContextBase } from '../context-base.js';

/** Where the objects of events are found. */
type Objects = Pick<ContextBase, 'pairs' | 'queues' | 'sharedQueues'>;

/** The event that an adapter announced, and why, where that is not 0; or undefined when the object that it concerns is gone. */
export function toAsyncEvent(type: EventType, object: number, why: number, objects: Objects): AsyncEvent | undefined {
  const { pairs, queues, sharedQueues } = objects;
  switch (type) {
    case EventType.CQ_ERR: {
      const cq = queues.get(object);
      return cq === undefined ? undefined : { eventType: type, cq };
    }
    case EventType.QP_FATAL:
    case EventType.QP_REQ_ERR:
    case EventType.QP_ACCESS_ERR:
    case EventType.COMM_EST:
    case EventType.SQ_DRAINED:
    case EventType.PATH_MIG:
    case EventType.PATH_MIG_ERR:
    case EventType.QP_LAST_WQE_REACHED: {
      const qp = pairs.get(object);
      return qp === undefined ? undefined : { eventType: type, qp, ...(why === 0 ? {} : { vendorErr: why }) };
    }
    case EventType.PORT_ACTIVE:
    case EventType.PORT_ERR:
    case EventType.LID_CHANGE:
    case EventType.PKEY_CHANGE:
    case EventType.SM_CHANGE:
    case EventType.CLIENT_REREGISTER:
    case EventType.GID_CHANGE:
    case EventType.DEVICE_SPEED_CHANGE:
      return { eventType: type, portNum: 1 };
    case EventType.DEVICE_FATAL:
      return { eventType: type };
    case EventType.SRQ_ERR:
    case EventType.SRQ_LIMIT_REACHED: {
      const srq = sharedQueues.get(object);
      return srq === undefined ? undefined : { eventType: type, srq };
    }
    case EventType.WQ_FATAL:
      // Of objects that this device does not have.
      return undefined;
  }
}
