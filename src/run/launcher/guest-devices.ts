import { openFor } from '../../providers/soft/index.js';
import { openDevice } from '../../entry/index.js';
import { ownAddresses } from '../../node/system/index.js';
import type { Context } from '../../api/verbs/index.js';

/** A NIC of ours as programs see it. */
export interface GuestDevice {
  /** `rxe0`: by its name libibverbs chooses the rxe provider. */
  readonly name: string;
  readonly address: string;
  readonly interfaceName: string;
  /** Keeps the NIC up as long as programs run. */
  readonly context: Context;
  /** What the opening of the device by that process is. @throws VerbsError ENOMEM and the like when there can be no more */
  openClient(pid: number): Context;
}

/** What the command line asks of the devices. */
export interface DeviceOptions {
  readonly addresses: readonly string[];
  readonly netem?: string;
  readonly capture?: string;
  readonly warn: (text: string) => void;
}

/** Brings a NIC up at each address. @throws VerbsError as `openDevice` */
export function openGuestDevices({ addresses, netem, capture, warn }: DeviceOptions): readonly GuestDevice[] {
  const wanted = addresses.length === 0 ? [undefined] : addresses;
  return wanted.map((address, index) => {
    const context = openDevice({
      host: 'inline',
      warn,
      ...(address === undefined ? {} : { address }),
      ...(netem === undefined ? {} : { netem }),
      ...(capture === undefined ? {} : { capture: captureFile(capture, index) }),
    });
    const at = address ?? context.address;
    return {
      // By this beginning libibverbs knows whose provider to load.
      name: `rxe${index}`,
      address: at,
      interfaceName: ownAddresses().find((own) => own.address === at)?.via ?? 'lo',
      context,
      openClient: (pid) => openFor(context, pid),
    };
  });
}

function captureFile(file: string, index: number): string {
  return index === 0 ? file : file.replace(/(\.[^./]*)?$/, `-${index}$1`);
}
