import { Syndrome, WcStatus } from '../../../src/device/ibta/index.js';
import type { Completion } from '../../../src/device/nic/test/rings.js';
import type { Area, DeviceHost } from './device-host.js';
import type { Life } from './life.js';
import type { Request } from './slot.js';

/** Whether a command has failed that was for a request, at one of its ends. */
function failedAt({ gpu }: DeviceHost, { buffer }: Area, { slot, offset, lengthBytes }: Request): boolean {
  const from = slot.at + offset;
  return gpu.failed.some(
    (touch) => touch.buffer === buffer && touch.offset < from + lengthBytes && from < touch.offset + touch.lengthBytes,
  );
}

/** Whether a device has failed at something that was for anybody: one request alone may end for that, at both its ends. */
function failedSomewhere(host: DeviceHost, request: Request): boolean {
  if (host.unspecific.has(request)) return true;
  if (host.unspecificFailures === host.unspecific.size) return false;
  host.unspecific.add(request);
  return true;
}

/**
 * Why a request may have ended in error, with that status: something was done to it, or the device has failed at what was for this
 * request. That it failed for somebody else is no reason.
 */
export function excuseOf(
  life: Life,
  request: Request,
  { status, vendorErr }: Pick<Completion, 'status' | 'vendorErr' | 'detail'>,
): string | undefined {
  if (life.hasIntervened) return 'the program has intervened';
  const { from, to, local, remote } = life;
  // Who has failed at a later request hears no earlier one any more.
  if (status === WcStatus.RETRY_EXC_ERR && life.open.some((later) => failedAt(to, remote, later)))
    return 'the peer has failed at a later request';
  const isNamed = vendorErr === Syndrome.LOCAL_MEMORY_DEVICE || vendorErr === Syndrome.RESPONDER_MEMORY_DEVICE;
  // Who is not told that it was the device would look for a mistake in the program.
  if (status === WcStatus.LOC_PROT_ERR && !isNamed) return undefined;
  const isLocal = status === WcStatus.LOC_PROT_ERR;
  // Of a NAK that is lost the requester hears nothing, however often it asks again.
  const isRemote = status === WcStatus.RETRY_EXC_ERR || status === WcStatus.REM_OP_ERR;
  for (const [host, area, fits] of [
    [from, local, isLocal],
    [to, remote, isRemote || isLocal],
  ] as const) {
    if (!fits || area.buffer === undefined) continue;
    if (host.gpu.isLost) return 'nobody knows what the device does';
    if (failedAt(host, area, request)) return 'a command for it has failed';
    if (failedSomewhere(host, request)) return 'the device has failed';
  }
  return undefined;
}
