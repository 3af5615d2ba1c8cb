import { connectionMemory, connectionRate } from '../measure/cm.js';
import { repeat } from '../measure/measurement.js';
import { netConnectionRate } from '../measure/net.js';
import type { Row, SectionMaker } from './section.js';

const TOGETHER = 1000;
const KEPT = 10_000;

export const connections: SectionMaker = ({ effort, times }) => ({
  title: `Connections by rdma_cm, ${TOGETHER.toLocaleString('en')} made and ended together, queue pairs and all`,
  rows: [
    ...(['inline', 'thread'] as const).map((host): Row => {
      const measure: Row['measure'] = async () => ({ samples: await connectionRate(host, TOGETHER, times) });
      return { id: `connections.${host}`, what: `in a second, ${host}`, unit: '1/s', measure };
    }),
    {
      id: 'connections.net',
      what: 'in a second, node:net',
      unit: '1/s',
      measure: async () => ({ samples: await netConnectionRate(TOGETHER, effort) }),
    },
    {
      id: 'connections.memory',
      what: "the connection manager's memory of one end",
      unit: 'KiB',
      measure: async () => ({ samples: await repeat(times, () => connectionMemory(KEPT)) }),
    },
  ],
});
