import type { Mutant } from '../mutant.js';

const RESPONDER = 'src/device/nic/reliable/responder.ts';
const ANSWERED = 'src/device/nic/reliable/answered-requests.ts';

/** What a reliable responder does with requests (protocol.md 2.3 to 2.5). */
export const responder: readonly Mutant[] = [
  {
    name: 'psn-ahead',
    rule: 'a request ahead of the expected PSN is not executed',
    source: 'protocol.md 2.3, row 1; IBTA 9.7.1',
    file: RESPONDER,
    from: 'if (distance > 0) {',
    to: 'if (false) {',
    games: ['traffic', 'walk'],
  },
  {
    name: 'duplicate-send',
    rule: 'a SEND that comes again is not executed again',
    source: 'protocol.md 2.5; IBTA 9.7.1',
    file: RESPONDER,
    from: 'if (distance < 0) {',
    to: 'if (distance < 0 && (bits & OpcodeBit.SEND) === 0) {',
    games: ['traffic', 'walk'],
  },
  {
    name: 'duplicate-unacknowledged',
    rule: 'a SEND or WRITE that comes again is acknowledged again: the first acknowledgement may be lost',
    source: 'protocol.md 2.5',
    file: RESPONDER,
    from: 'else this.sender.acknowledge(psnAdd(this.#expectedPsn, -1), ACK_SYNDROME, this.#msn);',
    to: '',
    games: ['traffic', 'walk'],
  },
  {
    name: 'duplicate-acknowledges-more',
    rule: 'a request that comes again acknowledges what was executed, and nothing beyond',
    source: 'protocol.md 2.5',
    file: RESPONDER,
    from: 'this.sender.acknowledge(psnAdd(this.#expectedPsn, -1), ACK_SYNDROME, this.#msn);',
    to: 'this.sender.acknowledge(this.#expectedPsn, ACK_SYNDROME, this.#msn);',
    games: ['traffic', 'walk'],
  },
  {
    name: 'duplicate-read',
    rule: 'a READ that comes again is answered again',
    source: 'protocol.md 2.5',
    file: ANSWERED,
    from: 'if (operation === OpcodeBit.READ_REQUEST) return this.#readAgain(bytes, offset, psn, resource);',
    to: 'if (operation === OpcodeBit.READ_REQUEST) return true;',
    games: ['traffic', 'walk'],
  },
  {
    name: 'duplicate-atomic',
    rule: 'an atomic that comes again is answered with what it found, and not executed again',
    source: 'protocol.md 2.5',
    file: ANSWERED,
    from: 'if (operation === OpcodeBit.ATOMIC) sender.queueAtomic(resource, true);',
    to: `if (operation === OpcodeBit.ATOMIC) {
      const { rkey, addrHi, addrLo } = resource;
      const grant = this.responder.demand(rkey, addrHi, addrLo, 8, AccessFlags.REMOTE_ATOMIC);
      const at = offset + atomicEthOffset[bytes[offset]];
      if (grant !== undefined)
        executeAtomic(bytes[offset], bytes, at, grant.region, this.core.memory.begin, resource.answer);
      sender.queueAtomic(resource, true);
    }`,
    games: ['traffic', 'walk'],
  },
  {
    name: 'answers-kept',
    rule: 'the answers to as many READs and atomics are kept as may be outstanding',
    source: 'protocol.md 2.5',
    file: 'src/device/nic/reliable/responder-resources.ts',
    from: 'this.#next = (this.#next + 1) % this.#capacity;',
    to: 'this.#next = 0;',
    games: ['traffic', 'walk'],
  },
  {
    name: 'message-sequence',
    rule: 'a MIDDLE or LAST packet follows the FIRST of its own kind, and nothing else comes between',
    source: 'protocol.md 2.3, row 2',
    file: RESPONDER,
    from: 'return this.#unfinished === Unfinished.NONE ? !continues : continues && (bits & this.#unfinished) !== 0;',
    to: 'return this.#unfinished !== Unfinished.NONE || !continues;',
    games: ['fuzz'],
  },
  {
    name: 'qp-remote-write',
    rule: 'a peer WRITEs only where the queue pair lets it',
    source: 'protocol.md 2.3, row 3',
    file: RESPONDER,
    from: 'if ((this.#accessFlags & AccessFlags.REMOTE_WRITE) === 0) {',
    to: 'if (false) {',
    games: ['traffic', 'walk'],
  },
  {
    name: 'qp-remote-read',
    rule: 'a peer READs and does atomics only where the queue pair lets it',
    source: 'protocol.md 2.3, row 3',
    file: ANSWERED,
    from: 'return (this.qp.attr.qpAccessFlags & needed) === needed;',
    to: 'return true;',
    games: ['traffic', 'walk'],
  },
  {
    name: 'rnr-nak',
    rule: 'a SEND that finds no receive request is answered with an RNR NAK',
    source: 'protocol.md 2.3, row 4; IBTA 9.7.5.2.8',
    file: RESPONDER,
    from: 'this.sender.acknowledge(this.#expectedPsn, Aeth.RNR_NAK | this.qp.attr.minRnrTimer, this.#msn);',
    to: '',
    games: ['traffic', 'walk'],
  },
  {
    name: 'rnr-executed',
    rule: 'a SEND that finds no receive request is not acknowledged',
    source: 'protocol.md 2.3, row 4',
    file: RESPONDER,
    from: 'this.core.counters.sendRnrErr += 1;',
    to: 'this.executed(1, true, true);\n    return;',
    games: ['traffic', 'walk'],
  },
  {
    name: 'send-too-long',
    rule: 'a SEND longer than its receive request is an invalid request',
    source: 'protocol.md 2.3, row 5',
    file: RESPONDER,
    from: 'if (this.#received + payload > room) {',
    to: 'if (false) {',
    games: ['traffic', 'walk'],
  },
  {
    name: 'write-length',
    rule: 'a WRITE carries as many bytes as its RETH says',
    source: 'protocol.md 2.3, row 6',
    file: RESPONDER,
    from: 'if (ends ? payload !== left : payload >= left) {',
    to: 'if (false) {',
    games: ['fuzz'],
  },
  {
    name: 'write-nothing',
    rule: 'a WRITE of no bytes may name any key and address',
    source: 'protocol.md 2.8',
    file: RESPONDER,
    from: 'if (length === 0) return true;',
    to: '',
    games: ['traffic', 'walk'],
  },
  {
    name: 'atomic-alignment',
    rule: 'an atomic on an address that is not a multiple of eight is an invalid request',
    source: 'protocol.md 2.7',
    file: ANSWERED,
    from: 'if (payload !== 0 || (lo & 7) !== 0) {',
    to: 'if (payload !== 0) {',
    games: ['traffic', 'walk'],
  },
  {
    name: 'compare-high',
    rule: 'COMPARE_SWAP compares all 64 bits',
    source: 'protocol.md 1.3',
    file: 'src/device/nic/memory/copying/atomic-execution.ts',
    from: 'if (lo !== atomicEthCompareLo(bytes, at) || hi !== atomicEthCompareHi(bytes, at)) return;',
    to: 'if (lo !== atomicEthCompareLo(bytes, at)) return;',
    games: ['traffic', 'walk'],
  },
  {
    name: 'add-carry',
    rule: 'FETCH_ADD adds 64 bits',
    source: 'protocol.md 1.3',
    file: 'src/device/nic/memory/copying/atomic-execution.ts',
    from: '(sum >= 2 ** 32 ? 1 : 0)',
    to: '0',
    games: ['traffic', 'walk'],
  },
  {
    name: 'immediate-order',
    rule: 'immediate data is delivered byte for byte',
    source: 'protocol.md 1.3',
    file: RESPONDER,
    from: `wcFlags = WcFlags.WITH_IMM;
      immData = getU32(bytes, offset + immOffset[opcode]);`,
    to: `wcFlags = WcFlags.WITH_IMM;
      immData = new DataView(bytes.buffer, bytes.byteOffset).getInt32(offset + immOffset[opcode], true);`,
    games: ['traffic', 'walk'],
  },
  {
    name: 'write-imm-length',
    rule: 'the completion of a WRITE with immediate data tells the length of the whole message',
    source: 'protocol.md 2.10',
    file: RESPONDER,
    from: 'this.#completeReceive(WcOpcode.RECV_RDMA_WITH_IMM, this.#dmaLength,',
    to: 'this.#completeReceive(WcOpcode.RECV_RDMA_WITH_IMM, payload,',
    games: ['traffic', 'walk'],
  },
  {
    name: 'acknowledgement',
    rule: 'a request that asks for an acknowledgement gets one',
    source: 'protocol.md 2.3, row 7; 2.4',
    file: RESPONDER,
    from: '} else if (ackRequest) {',
    to: '} else if (false) {',
    games: ['traffic', 'walk'],
  },
  {
    name: 'error-after-nak',
    rule: 'a responder that refuses a request goes to ERR',
    source: 'protocol.md 2.3',
    file: RESPONDER,
    from: `    this.qp.raise(eventOf(nakCode), syndrome);
    this.qp.enterError(syndrome);
  }

  /** Ends the message`,
    to: `    this.qp.raise(eventOf(nakCode), syndrome);
  }

  /** Ends the message`,
    games: ['traffic', 'walk'],
  },
  {
    name: 'msn',
    rule: 'the message sequence number counts the messages that were executed',
    source: 'protocol.md 2.1',
    file: RESPONDER,
    from: 'if (endsMessage) this.#msn = (this.#msn + 1) & 0xffffff;',
    to: 'this.#msn = (this.#msn + 1) & 0xffffff;',
    games: ['traffic', 'walk'],
  },
  {
    name: 'duplicate-read-domain',
    rule: 'a READ that comes again is judged by the domain that it was executed in, whichever message of XRC is open meanwhile',
    source: 'protocol.md 2.5, 3.3',
    file: ANSWERED,
    from: 'memory.openRemote(rkey, resource.pd, qp.qpn, AccessFlags.REMOTE_READ, hi, lo, length);',
    to: 'memory.openRemote(rkey, responder.pd, qp.qpn, AccessFlags.REMOTE_READ, hi, lo, length);',
    games: ['tests'],
  },
  {
    name: 'ended-unacknowledged',
    rule: 'a queue pair that is ended still acknowledges what the program has seen complete',
    source: 'IBTA 9.7.5.1.2: the acknowledgement of what was executed does not depend on what the program does next',
    file: 'src/device/nic/queue-pairs/queue-pair.ts',
    from: 'this.receiving.transmitAcknowledgement();',
    to: '',
    games: ['tests'],
  },
];
