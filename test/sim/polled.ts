import { WcOpcode, WcStatus } from '../../src/device/ibta/index.js';

/** The completions that the programs of one host have polled. */
export class Polled {
  all = 0;
  /** Completions were lost, since a queue was full. */
  lossy = false;
  /** That succeeded: SENDs that are signalled, and receives. */
  sends = 0;
  receives = 0;
  timeouts = 0;
  notReady = 0;

  add({ status, opcode }: { readonly status: WcStatus; readonly opcode: WcOpcode }): void {
    this.all += 1;
    if (status === WcStatus.SUCCESS) {
      if (opcode === WcOpcode.SEND) this.sends += 1;
      else if ((opcode & WcOpcode.RECV) !== 0) this.receives += 1;
    } else if (status === WcStatus.RETRY_EXC_ERR) this.timeouts += 1;
    else if (status === WcStatus.RNR_RETRY_EXC_ERR) this.notReady += 1;
  }
}
