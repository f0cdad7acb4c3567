import { once } from 'node:events'
import { createServer } from 'node:net'

export async function freePort(from: number, host = '127.0.0.1'): Promise<number> {
  for (let port = from; port <= 65_535; port++) {
    const found = await tryPort(port, host)
    if (found) return found
  }
  throw new Error(`There is no free port from ${from} on.`)
}

async function tryPort(port: number, host: string): Promise<number | null> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
  } catch {
    return null
  }
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : null
}
