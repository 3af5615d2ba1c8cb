import { CaptureUnderTest } from '../measure/captures.js';
import type { Measurement } from '../measure/measurement.js';
import { repeat } from '../measure/measurement.js';
import type { Row, SectionMaker } from './section.js';

const TSHARK = { program: 'tshark', advice: 'apt-get install tshark' };
const FIELDS = ['-T', 'fields', '-e', 'infiniband.bth.psn', '-r'];

/** Each file is read so often: the first time it is read, code is compiled. */
const TIMES = 3;

function rowsFor(capture: CaptureUnderTest): Row[] {
  const { payloadBytes } = capture;
  const row = (id: string, what: string, rate: () => Promise<number>, times = TIMES): Row => ({
    id: `captures.${payloadBytes}.${id}`,
    what: `${payloadBytes} B: ${what}`,
    unit: '10^6/s',
    measure: async (): Promise<Measurement> => ({ samples: await repeat(times, rate) }),
  });
  return [
    row('index', 'the reader, all ICRCs checked', () => Promise.resolve(capture.index())),
    { ...row('tshark', 'tshark, one field, no ICRC', () => capture.read('tshark', FIELDS), 1), needs: TSHARK },
    row('dump', 'dump', () => capture.readByTool('dump'), 1),
    row('explain', 'explain', () => capture.readByTool('explain'), 1),
  ];
}

/** Packets of captures a second, and the memory of an explanation. */
export const captures: SectionMaker = ({ capturePackets }) => {
  const [small, large] = [
    new CaptureUnderTest(capturePackets, 64),
    // As many bytes as a million packets of 1 KiB: a gigabyte.
    new CaptureUnderTest(Math.ceil(capturePackets * 0.95), 1024),
  ];
  const half = new CaptureUnderTest(capturePackets >> 1, 64);
  const memory = async (): Promise<number> => {
    const [more, less] = [await small.peakBytes('explain'), await half.peakBytes('explain')];
    return (more - less) / (small.packets - half.packets);
  };
  return {
    title: `Reading a capture of ${capturePackets.toLocaleString('en')} packets, in a second of processor time`,
    rows: [
      ...rowsFor(small),
      ...rowsFor(large),
      {
        id: 'captures.64.explain.memory',
        what: 'explain, memory a packet',
        unit: 'B',
        measure: async () => ({ samples: [await memory()] }),
      },
    ],
  };
};
