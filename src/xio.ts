/** Sessions with requests and messages over RDMA, for programs that run in Node. */
import './machine/hosting/index.js';
import { useTransport } from './layers/xio/transport/index.js';
import { tcp } from './layers/xio/transport/tcp/index.js';

useTransport(tcp);

export * from './portable-xio.js';
