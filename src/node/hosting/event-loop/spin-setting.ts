import { CommandError } from '../../../device/nic/index.js';

const DEFAULT_US = 200;
/** A second: whoever looks for longer polls. */
const MOST_US = 1_000_000;

/**
 * The longest time that those who await look for it before they sleep.
 *
 * @throws CommandError EINVAL when `VERBENA_SPIN` is no such time
 */
export function spinSettingUs(): number {
  const asked = process.env['VERBENA_SPIN'];
  if (asked === undefined || asked === '') return DEFAULT_US;
  const us = Number(asked);
  if (us >= 0 && us <= MOST_US) return us;
  throw new CommandError('EINVAL', `VERBENA_SPIN is '${asked}'; it is a number of µs, 0 to ${MOST_US}`);
}
