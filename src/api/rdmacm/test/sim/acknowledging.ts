import type { CmEvent, EventChannel } from '../../../../entry/index.js';
import { check } from '../../../../../test/sim/failure.js';
import { refusalOf } from '../../../../../test/support/refusal.js';

/** Acknowledges an event only after all that has to wait for that, and then once more. */
export function acknowledgeLate(event: CmEvent, elsewhere: EventChannel): void {
  // That there is a request is the listener's event.
  const reporter = event.listenId ?? event.id;
  const busy = {
    'destroying the identifier': () => reporter.destroy(),
    'moving the identifier': () => reporter.migrate(elsewhere),
    'destroying its channel': () => reporter.channel?.destroy(),
  };
  for (const [what, action] of Object.entries(busy)) {
    const problem = refusalOf(action);
    check(problem?.errno === 'EBUSY', () => `${what} before its event is acknowledged: ${problem?.message ?? 'done'}`);
  }
  event.ack();
  const problem = refusalOf(() => event.ack());
  check(problem?.errno === 'EINVAL', () => `acknowledging an event twice: ${problem?.message ?? 'done'}`);
}
