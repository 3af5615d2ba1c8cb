import type { Context } from '../api/verbs/index.js';

/** A NIC of ours as programs see it. */
export interface GuestDevice {
  /** `rxe0`: by its name libibverbs chooses the rxe provider. */
  readonly name: string;
  readonly address: string;
  /** Interface of that address. */
  readonly interfaceName: string;
  /** Keeps the NIC up as long as programs run. */
  readonly context: Context;
  /** What the opening of the device by that process is. @throws VerbsError ENOMEM and the like when there can be no more */
  openClient(pid: number): Context;
}
