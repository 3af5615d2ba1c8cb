import type { NicCore } from '../nic-core.js';
import type { ReceivingHalf, SendingHalf } from './halves.js';
import { TransmitResult } from './turns.js';

/** The sending half of a QP that only receives: the target end of an XRC connection (protocol/services.md 3.3). */
export class NoRequester implements SendingHalf {
  readonly busy = false;

  constructor(private readonly core: NicCore) {}

  start(): void {
    // There is nothing to begin with.
  }

  onAttributes(): void {
    // No attribute concerns what is not there.
  }

  transmit(): TransmitResult {
    return TransmitResult.IDLE;
  }

  onResponse(): void {
    this.core.counters.rxUnexpectedResponse += 1;
  }

  onTimer(): void {
    // Nothing was sent that could be waited for.
  }

  completeFailed(): void {
    // Without requests none fails.
  }

  flush(): void {
    // Nothing can be posted.
  }

  reset(): void {
    // There is nothing to forget.
  }
}

/** The receiving half of a QP that only sends: the initiator end of an XRC connection (protocol/services.md 3.3). */
export class NoResponder implements ReceivingHalf {
  constructor(private readonly core: NicCore) {}

  start(): void {
    // There is nothing to begin with.
  }

  onAttributes(): void {
    // No attribute concerns what is not there.
  }

  onRequest(): void {
    this.core.counters.rxWrongTransport += 1;
  }

  onFrame(): void {
    this.core.counters.rxWrongTransport += 1;
  }

  completesTo(): boolean {
    return false;
  }

  transmit(): TransmitResult {
    return TransmitResult.IDLE;
  }

  transmitAcknowledgement(): TransmitResult {
    return TransmitResult.IDLE;
  }

  completeFailed(): void {
    // Without requests none fails.
  }

  flush(): void {
    // Nothing can be posted.
  }

  reset(): void {
    // There is nothing to forget.
  }
}
