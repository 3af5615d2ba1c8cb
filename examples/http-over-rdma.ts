// A web server, and a client of it, over RDMA: node:http as it is, on sockets of another kind.
//
//   node http-over-rdma.js serve              prints where it listens
//   node http-over-rdma.js get HOST:PORT      asks for some pages, over one connection
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { Agent, attach } from 'verbena/net';

function serve(): void {
  const pages = http.createServer((request, response) => {
    if (request.method === 'POST') request.pipe(response);
    else response.end(`this is ${request.url}, for port ${request.socket.remotePort}\n`);
  });
  // Connections come to this one, and go to the server of pages.
  const server = attach(pages).listen(0, () => {
    const place = server.address();
    if (place !== null) console.log(`${place.address}:${place.port}`);
  });
}

/** Asks for a page, or has one echoed. */
function ask(url: string, agent: http.Agent, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent, method: body === undefined ? 'GET' : 'POST' }, (response) =>
      resolve(text(response)),
    );
    request.on('error', reject).end(body);
  });
}

async function get(place: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const [first, second] = [await ask(`http://${place}/one`, agent), await ask(`http://${place}/two`, agent)];
  const portOf = (page: string): string | undefined => /port (\d+)/.exec(page)?.[1];
  console.log(first.split(',')[0]);
  console.log(second.split(',')[0]);
  console.log(`over ${portOf(first) === portOf(second) ? 'one connection' : 'two connections'}`);
  console.log(await ask(`http://${place}/echo`, agent, 'and this is an echo'));
  agent.destroy();
}

async function main(): Promise<void> {
  const [role, place = ''] = process.argv.slice(2);
  if (role === 'get' && place !== '') return get(place);
  if (role !== 'serve') throw new Error('usage: http-over-rdma serve | get HOST:PORT');
  serve();
}

void main();
