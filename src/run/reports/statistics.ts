import type { GuestDevice } from '../guest-device.js';

/** What a device has counted, as `rdma statistic` prints it: a line of those counters that are not zero. */
export function statisticsLine({ name, address, context }: Pick<GuestDevice, 'name' | 'address' | 'context'>): string {
  const counted = Object.entries(context.counters()).filter(([, count]) => count !== 0);
  return [`link ${name}/1`, ...counted.map(([counter, count]) => `${counter} ${count}`), `address ${address}`].join(
    ' ',
  );
}
