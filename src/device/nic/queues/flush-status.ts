import { Syndrome, WcStatus } from '../../ibta/index.js';

/** The status of requests posted to a QP that has stopped: flushed, or lost with the device (protocol.md 2.10). */
export function flushStatus(cause: Syndrome): WcStatus {
  return cause === Syndrome.DEVICE_FATAL ? WcStatus.FATAL_ERR : WcStatus.WR_FLUSH_ERR;
}
