import type { HostRecord, SendRecord, WindowRecord } from './things.js';

/** What is known of keys once a bind or an invalidation is heard of, or never will be. */

export function closeBind(request: SendRecord, success: boolean): void {
  const { binds } = request;
  if (binds === undefined) return;
  const { window, binding } = binds;
  window.pending.delete(request);
  if (!success) window.possible.delete(binding);
  else if (isLatest(window, request)) {
    window.binding = binding.lengthBytes === 0 ? undefined : binding;
    window.unsure = false;
    window.possible.clear();
  } else window.unsure = true;
}

export function closeInvalidation(hosts: readonly HostRecord[], request: SendRecord, success: boolean): void {
  for (const host of hosts) {
    for (const window of host.windows) {
      if (!window.pending.delete(request) || !success) continue;
      window.unsure = !isLatest(window, request);
      if (window.unsure) continue;
      window.binding = undefined;
      window.possible.clear();
    }
  }
}

/** Nobody will ever tell whether it was carried out. */
export function unsettle(hosts: readonly HostRecord[], request: SendRecord): void {
  if (request.binds === undefined && request.invalidates === undefined) return;
  for (const host of hosts) {
    for (const thing of host.windows) {
      if (!thing.pending.delete(request)) continue;
      thing.unsure = true;
      // What was carried out before may be heard of later.
      thing.epoch += 1;
    }
  }
}

/**
 * Whether a bind or invalidation that succeeded was the last that was carried out: requests of several queues are carried out in
 * another order than they are heard of.
 */
function isLatest(owner: WindowRecord, { epoch }: SendRecord): boolean {
  owner.epoch += 1;
  return owner.pending.size === 0 && epoch === owner.epoch - 1;
}
