import { Errno, type ErrnoName } from '../../device/ibta/index.js';
import { type DatagramPort, type DatagramPortOptions, runtime } from '../runtime/index.js';
import { type Context, VerbsError } from '../verbs/index.js';
import { datagramPort, providedContext } from './provider.js';

function isErrno(code: unknown): code is ErrnoName {
  return typeof code === 'string' && code in Errno;
}

/**
 * Opens a UDP port, beside RDMA, of the host that a device is in: of the machine, or in a simulation of the simulated host, whose network
 * loses and delays what is sent there as it does RDMA's packets.
 *
 * @throws VerbsError EADDRINUSE when another has the port, EADDRNOTAVAIL, EACCES; EOPNOTSUPP in a page of a browser; EIO
 */
export function openDatagramPort(call: string, context: Context, options: DatagramPortOptions): DatagramPort {
  const ofDevice = providedContext(context, call)[datagramPort](call, options);
  if (ofDevice !== undefined) return ofDevice;
  try {
    return runtime().openDatagramPort(options);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `UDP port ${options.port} of ${options.host}: ${reason}`;
    throw new VerbsError(call, { errno: isErrno(code) ? code : 'EIO', message, advice: '' }, { cause: error });
  }
}
