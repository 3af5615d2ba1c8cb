import { Command } from 'commander';
import { tool } from '../../kit/errors.js';
import { pinTo } from '../../kit/spinning.js';
import { beClient } from './client.js';
import { requestOf, withXioFlags, type XioPerfFlags } from './flags.js';
import { beServer } from './serve.js';
import { XIO_TESTS } from './tests.js';
import { beThread } from './thread.js';
import { ownTask } from './threads.js';

async function perftest(words: readonly string[], flags: XioPerfFlags): Promise<void> {
  const task = ownTask();
  if (task !== undefined) return beThread(task);
  const request = requestOf(words, flags);
  if (flags.c !== undefined) pinTo(flags.c);
  if (flags.t !== undefined) process.env['VERBENA_SPIN'] = String(flags.t);
  await (request.server === undefined ? beServer(flags) : beClient(request.server, request, flags));
}

const EXAMPLES = `
Tests:
${XIO_TESTS.map(({ name, title }) => `  ${name.padEnd(18)}${title}`).join('\n')}

Two shells, one machine:
  verbena xio_perftest                                     the server, until Ctrl-C
  verbena xio_perftest read_lat 127.0.0.1                  the client
  verbena xio_perftest read_bw 127.0.0.1 -n 2 -s 4096      two threads, 4 KiB`;

export function command(): Command {
  return withXioFlags(
    new Command('xio_perftest').description(
      'Measure requests and responses of verbena/xio, as Accelio’s xio_read_lat and xio_read_bw do.\n' +
        'Without a server: be one, for all tests. With one: connect to it, and run a test.',
    ),
  )
    .argument('[test]', 'what to measure, of the tests below (default: read_lat)')
    .argument('[server]', 'name or address of the server; without, be one')
    .addHelpText('after', EXAMPLES)
    .action(
      tool((test: string | undefined, server: string | undefined, flags: XioPerfFlags) =>
        perftest(
          [test, server].filter((word) => word !== undefined),
          flags,
        ),
      ),
    );
}
