/** The bench's command line. */
import { parseArgs } from 'node:util';

const USAGE = `Usage: npm run bench -- [--quick] [--only WORD]... [--json FILE] [--markdown FILE] [--svg FOLDER]

Measures the software NIC beside its peers, in one run: the bare UDP socket, node:net, node:dgram, and, where they are
installed, UCX, libfabric, qperf, Redis and memcached. Says at the end where it stands against its aims.

  --quick          fewer sizes and shorter samples: some two minutes in place of eight
  --only WORD      only sections and rows with this word in their title or id, in any case; may be repeated.
                   Such as: latency.64, write.65536, ucx, incast, kv, gpu, run, ucp, herd.
  --json FILE      writes the figures there as well
  --markdown FILE  writes the tables there as well
  --svg FOLDER     draws there: latency.svg and bandwidth.svg, over size; herd-*.svg, HERD's figures; flame-latency.svg and
                   flame-bandwidth.svg, where the time goes
  --list           prints what would be measured
  --help           prints this text`;

export interface Options {
  readonly quick: boolean;
  readonly only: readonly string[];
  readonly list: boolean;
  readonly json: string | undefined;
  readonly markdown: string | undefined;
  readonly svg: string | undefined;
}

/** Reads the command line. Ends the process where that is all there is to do. */
export function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        list: { type: 'boolean', default: false },
        json: { type: 'string' },
        markdown: { type: 'string' },
        svg: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    const { quick, only, list, json, markdown, svg } = values;
    return { quick, only, list, json, markdown, svg };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}
