import { echoIdleLoad, echoRoundTrip } from '../measure/echo.js';
import type { EchoTask } from '../measure/measurement.js';
import { netRoundTrip } from '../measure/net.js';
import { bytesName, type Extent, type Row, type Section, WAYS } from './section.js';

/** A stretch of rounds with a rest between them has to be longer for as many of them. */
const REST_MS = 1;
const STRETCHES_LONGER = 4;

function rows(id: string, task: EchoTask, ways = WAYS): readonly Row[] {
  return [
    ...ways.map((way): Row => ({
      id: `${id}.${way.id}`,
      what: `recvComp, ${way.name}`,
      unit: 'µs',
      measure: () => echoRoundTrip(way, task),
    })),
    { id: `${id}.net`, what: 'node:net', unit: 'µs', measure: () => netRoundTrip(task) },
  ];
}

/** How long it takes until a message that is awaited in the event loop has been answered by a program that awaits it so. */
export const echo = (bytes: number, { effort }: Extent): Section => ({
  title: `Awaited echo of ${bytesName(bytes)}, there and back`,
  rows: rows(`echo.${bytes}`, { bytes, restMs: 0, effort }),
});

/** The same, when both have slept before. */
export const sleepyEcho = ({ effort, idleSeconds }: Extent): Section => {
  const longer = { ...effort, stretchMs: STRETCHES_LONGER * effort.stretchMs };
  return {
    title: `Awaited echo of 64 B, there and back, ${REST_MS} ms after the last; processor time while nothing comes`,
    rows: [
      ...rows('echo.rest', { bytes: 64, restMs: REST_MS, effort: longer }),
      ...WAYS.map((way): Row => ({
        id: `echo.idle.${way.id}`,
        what: `awaiting, ${way.name}`,
        unit: '%',
        measure: () => echoIdleLoad(way, idleSeconds),
      })),
    ],
  };
};
