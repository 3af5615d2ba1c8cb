/**
 * `vanishing-server ADDRESS PORT`: accepts a connection, and dies as soon as it has one. It never has a receive request, so that
 * nothing the client sends is acknowledged before.
 */
import { listen } from '../../entry/index.js';

const [, , host, port] = process.argv;
const listener = listen({ host, port: Number(port) });
process.stdout.write('listens\n');
const request = await listener.next();
await request.accept();
process.kill(process.pid, 'SIGKILL');
