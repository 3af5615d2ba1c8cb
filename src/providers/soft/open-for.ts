import { type Context, invalid, VerbsError } from '../../api/verbs/index.js';
import { SoftContext } from './driver/context.js';

/**
 * Opens the device of a context once more, for what another process does: who looks at the NIC's queue pairs is told of that one. The
 * call has no C twin.
 *
 * @throws VerbsError EINVAL for a context of another provider, or whose NIC nobody has any more; ENOMEM when a NIC has no more
 *   clients; EIO when it has failed
 */
export function openFor(context: Context, pid: number): Context {
  if (context instanceof SoftContext) return context.another(pid);
  throw new VerbsError('ibv_open_device', invalid('that is no device of a software NIC'));
}
