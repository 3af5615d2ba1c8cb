/** C functions whose names are not `ibv_` and ours in snake case. */
const FUNCTIONS: Readonly<Partial<Record<string, string>>> = {
  bindAddr: 'rdma_bind_addr',
  createEventChannel: 'rdma_create_event_channel',
  createId: 'rdma_create_id',
  gidFromIp: 'the IPv4 address behind ::ffff:',
  createTargetQp: 'ibv_create_qp_ex',
  getAddrInfo: 'rdma_getaddrinfo',
  queryAddrInfo: 'rdma_getaddrinfo',
  resolveAddr: 'rdma_resolve_addr',
  resolveAddrInfo: 'rdma_getaddrinfo',
  resolveRoute: 'rdma_resolve_route',
};
const VERBS =
  'alloc|attach|bind|create|dealloc|dereg|destroy|detach|get|modify|open|poll|post|query|reg|req|rereg|resize|wr';
const VERB = new RegExp(`^(?:${VERBS})[A-Z]`);
const CAMEL_CASE = /\b[a-z]+[0-9]*(?:[A-Z][a-z0-9]*)+\b(?:\(\))?/g;
/** Words of others that look like names of ours. */
const WORDS: readonly string[] = ['iWARP', 'usNIC', 'rxRing', 'eBPF'];

function nameInC(name: string): string {
  if (WORDS.includes(name)) return name;
  const word = name.replace('()', '');
  const snake = word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return FUNCTIONS[word] ?? (VERB.test(word) ? `ibv_${snake}` : snake);
}

/** Advice that means nothing in C. */
const LANGUAGE = '; `using` ends things in the right order';

/** A sentence about our API, in the names that C has for the same fields and functions. */
export function inC(sentence: string): string {
  return sentence.replace(LANGUAGE, '').replaceAll(CAMEL_CASE, nameInC).replaceAll('VERBENA_ADDR', '--addr');
}
