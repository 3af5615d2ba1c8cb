import { WcStatus } from '../../../device/ibta/index.js';
import type { Lease } from '../../core/index.js';
import { UcsStatus } from '../wire/index.js';
import type { Completion } from './endpoint.js';

/** What to do once a request ended. */
export interface Afterwards {
  readonly completion?: Completion | undefined;
  /** Is given the bytes of the request's lease, if it succeeded, before the completion is called. */
  readonly onRead?: ((bytes: Uint8Array) => void) | undefined;
}

export function settle(afterwards: Afterwards | undefined, lease: Lease | undefined, status: UcsStatus): void {
  if (afterwards === undefined) return;
  if (status === UcsStatus.UCS_OK && lease !== undefined) afterwards.onRead?.(lease.bytes);
  afterwards.completion?.onComplete(status);
}

/** What a failed request means for its endpoint. @param status undefined where it was lost */
export function statusOf(status: WcStatus | undefined): UcsStatus {
  switch (status) {
    case WcStatus.RETRY_EXC_ERR:
    case WcStatus.RNR_RETRY_EXC_ERR:
      return UcsStatus.UCS_ERR_ENDPOINT_TIMEOUT;
    case WcStatus.WR_FLUSH_ERR:
    case undefined:
      return UcsStatus.UCS_ERR_CONNECTION_RESET;
    default:
      return UcsStatus.UCS_ERR_IO_ERROR;
  }
}
