import type { Mutant } from '../mutant.js';

const NIC = 'src/device/nic/nic.ts';

/** What a packet has to be before it gets to a queue pair (protocol.md 1, 2.9). */
export const packets: readonly Mutant[] = [
  {
    name: 'icrc',
    rule: 'a packet with a wrong ICRC is dropped',
    source: 'protocol.md 1.7; IBTA 9.2.1',
    file: NIC,
    from: '!meta.unsealed && this.#verifier.verify(bytes, offset, lengthBytes, meta) < 0',
    to: 'false',
    games: ['traffic', 'fuzz'],
  },
  {
    name: 'pkey',
    rule: 'a packet of another partition is dropped',
    source: 'protocol.md 1.1; IBTA 10.9.1.1',
    file: NIC,
    from: '} else if (!pkeysMatch(bthPkey(bytes, offset), qp.pkey)) {',
    to: '} else if (false) {',
    games: ['fuzz'],
  },
  {
    name: 'pkey-bits',
    rule: 'all 15 bits of a partition number count',
    source: 'protocol.md 1.1; IBTA 10.9.1.1',
    file: 'src/device/nic/port/port.ts',
    from: '((a ^ b) & PKEY_MASK) === 0',
    to: '((a ^ b) & 0xff) === 0',
    games: ['fuzz'],
  },
  {
    name: 'version',
    rule: 'a packet of another transport version is dropped',
    source: 'protocol.md 1.1',
    file: NIC,
    from: 'bthTver(bytes, offset) !== 0',
    to: 'false',
    games: ['fuzz'],
  },
  {
    name: 'service',
    rule: 'a queue pair takes packets of its own transport service alone',
    source: 'protocol.md 1.2; IBTA 9.2',
    file: NIC,
    from: '} else if (opcode >>> 5 !== qp.service) {',
    to: '} else if (false) {',
    games: ['fuzz'],
  },
  {
    name: 'state-receiving',
    rule: 'requests that come before RTR, or after an error, are dropped',
    source: 'protocol.md 2.9; IBTA 10.3.1',
    file: NIC,
    from: '} else if (!qp.mayReceive) {',
    to: '} else if (false) {',
    games: ['fuzz'],
  },
  {
    name: 'peer-address',
    rule: 'a connected queue pair takes packets from the address of its peer alone',
    source: 'protocol.md 8.3; IBTA 9.4.1.1',
    file: NIC,
    from: 'qp.connected && !qp.isPeer(meta.sourceWords)',
    to: 'false',
    games: ['fuzz'],
  },
  {
    name: 'truncated',
    rule: 'a packet shorter than its headers is dropped',
    source: 'protocol.md 1.2',
    file: NIC,
    from: '} else if (lengthBytes < opcodeHeaderBytes[opcode] + bthPadCount(bytes, offset) + ICRC_BYTES) {',
    to: '} else if (false) {',
    games: ['fuzz'],
  },
];
