/** What the environment can say, for `--help`; README.md has the whole of it. */
const SETTINGS = {
  VERBENA_ADDR: 'IP address of the device (default: a free loopback address)',
  VERBENA_HOST: 'where the NIC runs: thread (the default) or inline',
  VERBENA_PCAP: 'file that records every packet, as pcapng',
  VERBENA_LINK: 'auto (the default), udp or shm: which way packets go',
  VERBENA_NETEM: 'a bad network, such as "loss 1% delay 200us seed 7"',
  VERBENA_MIN_ACK_TIMEOUT: 'exponent of the shortest ACK timeout: 18 for machines that are overloaded',
  VERBENA_SPIN: 'µs that a program which awaits looks before it sleeps (default: 200; 0: none)',
  VERBENA_NATIVE: 'on (the default) or off: no system calls through koffi',
  VERBENA_SEED: 'seed of verbena/sim',
  VERBENA_STATS: 'on (the default) or off: not to be seen by rdma statistic',
  VERBENA_DEBUG: 'on: failures show where they came from',
} as const;

/** The variables, a line each. */
export function settingsText(): string {
  const rows = Object.entries(SETTINGS);
  const width = Math.max(...rows.map(([name]) => name.length));
  return ['Environment:', ...rows.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`)].join('\n');
}
