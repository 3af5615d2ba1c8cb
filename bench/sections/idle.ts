import { idleLoad } from '../measure/idle.js';
import type { SectionMaker } from './section.js';

/** Whether an open device leaves the processors alone. */
export const idle: SectionMaker = ({ idleSeconds }) => ({
  title: 'Processor time of an open, connected, idle device',
  rows: (['inline', 'thread'] as const).map((host) => ({
    id: `idle.${host}`,
    what: host,
    unit: '%',
    measure: async () => ({ samples: await idleLoad(host, idleSeconds, 1) }),
  })),
});
