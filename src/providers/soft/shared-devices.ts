import {
  type Context,
  invalid,
  objectProblem,
  type OpenOptions,
  refuse,
  type SharedDevice,
  unsupported,
  VerbsError,
} from '../../api/verbs/index.js';

/** How this thread opens once more what it has shared. */
const openers = new WeakMap<SharedDevice, () => Context>();

/** Notes how a device that is shared is opened once more in this thread. */
export function offer(device: SharedDevice, open: () => Context): SharedDevice {
  openers.set(device, open);
  return device;
}

/**
 * Opens the device that somebody has shared, where `options` name one.
 *
 * @param fromElsewhere opens what another thread has shared; gives undefined where nobody can
 * @throws VerbsError EINVAL for what is none, was closed by all who had it, or comes with options of a new NIC; EOPNOTSUPP for one
 *   that only its own thread can open
 */
export function openShared(
  call: string,
  options: OpenOptions,
  fromElsewhere: (device: SharedDevice) => Context | undefined = () => undefined,
): Context | undefined {
  const { device, warn, ...others } = options;
  if (device === undefined) return undefined;
  refuse(call, objectProblem('device', device));
  // A field that is there, but undefined, counts as absent.
  const given = Object.entries<unknown>(others).find(([, value]) => value !== undefined);
  if (given !== undefined)
    refuse(
      call,
      invalid(`${given[0]} says what a new NIC is to be`, 'A device that is shared is what it is: leave that out'),
    );
  const open = openers.get(device);
  if (open !== undefined) return open();
  const opened = fromElsewhere(device);
  if (opened !== undefined) return opened;
  throw new VerbsError(
    call,
    unsupported(
      `the NIC at ${device.address} is in the thread that has opened it, and nobody else can reach it`,
      "Open it there with host 'thread' (option host, or VERBENA_HOST), and share that",
    ),
  );
}
