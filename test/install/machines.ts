/** Machines that lack something, and what the package does there. */
import { fileURLToPath } from 'node:url';
import type { Lacking } from './installation.js';

export type Way = 'memory' | 'udp' | 'dgram';

export interface Machine {
  readonly name: string;
  /** What npm could not install. */
  readonly lacking?: Lacking;
  readonly env?: Readonly<Record<string, string>>;
  /** Flags of Node. */
  readonly flags?: readonly string[];
  /** What is done before the program begins, by a shell that is root in namespaces of mounts and networks of its own. */
  readonly before?: string;
  readonly way: Way;
  /** What the program has to say about it; nothing by default. */
  readonly warns?: RegExp;
}

const preload = (name: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import ${fileURLToPath(new URL(`./programs/${name}.js`, import.meta.url))}`,
});

const UDP = { VERBENA_LINK: 'udp' };
const NO_CRC = '@node-rs/crc32';
/** Node 20 has it under this name only. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission';
/** The permission model, with what every program needs. */
export const RESTRICTED: readonly string[] = [PERMISSION, '--allow-fs-read=*', '--no-warnings'];
const PERMITTED = [...RESTRICTED, '--allow-worker', '--allow-child-process'];

export const MACHINES: readonly Machine[] = [
  { name: 'that lacks nothing', way: 'memory' },
  { name: 'without shared memory, by choice', env: UDP, way: 'udp' },
  { name: 'with shared memory only, by choice', env: { VERBENA_LINK: 'shm' }, way: 'memory' },
  { name: "without the CRC's package", lacking: { packages: [NO_CRC] }, env: UDP, way: 'udp' },
  { name: 'of a platform for which the CRC has no binary', lacking: { binaries: [NO_CRC] }, env: UDP, way: 'udp' },
  {
    name: "without the CRC's package, with a Node that has no zlib.crc32",
    lacking: { packages: [NO_CRC] },
    env: { ...UDP, ...preload('no-zlib-crc32') },
    way: 'udp',
  },
  {
    name: 'without optional packages',
    lacking: { packages: ['@node-rs/crc32', 'koffi'] },
    way: 'dgram',
    warns:
      /packets go through node:dgram, because koffi could not be loaded: Cannot find module 'koffi'\. It works, but: /,
  },
  {
    name: 'of a platform for which there are no binaries at all',
    lacking: { binaries: ['@node-rs/crc32', 'koffi'] },
    way: 'dgram',
    warns: /packets go through node:dgram, because koffi could not be loaded: /,
  },
  {
    name: 'where system calls are switched off',
    env: { VERBENA_NATIVE: 'off' },
    way: 'dgram',
    warns: /packets go through node:dgram, because VERBENA_NATIVE=off\. It works, but: /,
  },
  {
    name: 'where neither system calls nor a CRC in native code are there',
    lacking: { packages: [NO_CRC] },
    env: { VERBENA_NATIVE: 'off', ...preload('no-zlib-crc32') },
    way: 'dgram',
    warns: /node:dgram/,
  },
  {
    name: 'where Node loads no native code',
    flags: ['--no-addons'],
    way: 'dgram',
    warns: /because koffi could not be loaded: Cannot load native addon because loading addons is disabled\. It works/,
  },
  {
    name: "with Node's permission model",
    flags: PERMITTED,
    way: 'dgram',
    warns: /node:dgram, because koffi could not/,
  },
  { name: 'whose kernel neither cuts nor joins datagrams', env: { ...UDP, ...preload('no-segmentation') }, way: 'udp' },
  {
    name: 'without /dev/shm',
    before:
      'mkdir -p dev && mount --rbind /dev dev && mount -t tmpfs none /dev && touch /dev/null && mount --bind dev/null /dev/null',
    way: 'udp',
  },
  { name: 'whose /dev/shm is full', before: 'mount -t tmpfs -o size=16k none /dev/shm', way: 'udp' },
  { name: 'whose /dev/shm is read-only', before: 'mount -t tmpfs -o ro none /dev/shm', way: 'udp' },
  {
    name: 'on which somebody else was quicker in /dev/shm',
    before: 'mount -t tmpfs none /dev/shm && mkdir -m 777 /dev/shm/verbena-0',
    way: 'udp',
  },
  { name: 'without /proc', before: 'mount -t tmpfs none /proc', way: 'udp' },
  {
    name: 'without a directory for temporary files',
    env: { TMPDIR: '/nowhere', XDG_RUNTIME_DIR: '/nowhere' },
    way: 'memory',
  },
  { name: 'without IPv6', before: 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6', way: 'memory' },
];
