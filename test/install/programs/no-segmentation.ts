/**
 * Loaded before a program: makes the kernel one that knows neither UDP_SEGMENT (Linux 4.18) nor UDP_GRO (5.0), as far as the
 * package at VERBENA_TEST_PACKAGE can see.
 */
import { createRequire } from 'node:module';
import type koffi from 'koffi';

const SOL_UDP = 17;
const UNKNOWN = [103, 104];
/** Of `struct msghdr`: where its ancillary data is, and how much. */
const CONTROL = 32;
const CONTROL_LENGTH = 40;
const HEADER_BYTES = 48;
const FAILED = -1;

type Call = (...args: readonly number[]) => number;

const native = createRequire(`${process.env['VERBENA_TEST_PACKAGE'] ?? ''}/package.json`)('koffi') as typeof koffi; // its own words

function at(address: number, lengthBytes: number): DataView {
  return new DataView(native.view(address, lengthBytes));
}

/** Whether the first ancillary message is one that such a kernel has never heard of. */
function isUnknown(message: number): boolean {
  const header = at(message, HEADER_BYTES);
  if (header.getBigUint64(CONTROL_LENGTH, true) === 0n) return false;
  const control = at(Number(header.getBigUint64(CONTROL, true)), 16);
  return control.getInt32(8, true) === SOL_UDP && UNKNOWN.includes(control.getInt32(12, true));
}

/** What such a kernel refuses, by the function's declaration. */
const REFUSALS: readonly { readonly declared: string; refuses(args: readonly number[]): boolean }[] = [
  { declared: 'int setsockopt(', refuses: ([, level, name]) => level === SOL_UDP && UNKNOWN.includes(name) },
  { declared: 'int sendmsg(', refuses: ([, message]) => isUnknown(message) },
];

const load = native.load.bind(native);
native.load = (path) => {
  const library = load(path);
  const func = (declaration: string): Call => {
    const call = library.func(declaration) as unknown as Call; // numbers in, a number out
    const refusal = REFUSALS.find(({ declared }) => declaration.startsWith(declared));
    return refusal === undefined ? call : (...args) => (refusal.refuses(args) ? FAILED : call(...args));
  };
  // The one thing that anybody wants of it.
  return { func } as unknown as typeof library;
};
