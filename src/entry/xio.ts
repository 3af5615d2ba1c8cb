/** Sessions with requests and messages over RDMA, for programs that run in Node. */
import '../node/hosting/index.js';
import { useTransport } from '../protocols/xio/transport/index.js';
import { tcp } from '../protocols/xio/transport/tcp/index.js';

useTransport(tcp);

export * from '../protocols/xio/index.js';
