import { Command } from 'commander';
import { benchCommand } from './bench/command.js';
import { callCommand } from './calls/call.js';
import { del, get, incr, set, touch } from './calls/entries.js';
import { explain, stats, ttl } from './calls/questions.js';
import { scanCommand } from './calls/scan.js';
import { failingDistinctly } from './common/failure.js';
import { serveCommand } from './serve/command.js';

export function command(): Command {
  const kv = failingDistinctly(new Command('kv')).description('A key-value store over RDMA, and calls to one.');
  kv.addCommand(serveCommand());
  kv.addCommand(callCommand(get));
  kv.addCommand(callCommand(set));
  kv.addCommand(callCommand(del));
  kv.addCommand(callCommand(incr));
  kv.addCommand(callCommand(touch));
  kv.addCommand(callCommand(ttl));
  kv.addCommand(scanCommand());
  kv.addCommand(callCommand(explain));
  kv.addCommand(callCommand(stats));
  kv.addCommand(benchCommand());
  return kv.addHelpText(
    'after',
    `
Two shells, one machine:
  verbena kv serve
  verbena kv set greeting hello && verbena kv get greeting

verbena kv get --help, and so on, has the options of each.`,
  );
}
