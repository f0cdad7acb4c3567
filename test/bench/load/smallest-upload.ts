import { createCipheriv, createHash, randomBytes, randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { printLine } from '../../../src/platform/output.ts'

/**
 * A minimal upload server: it receives a body, hashes, encrypts, writes and flushes it, without parsing,
 * authentication or database. The folder is its first argument.
 */
const folder = process.argv[2] ?? ''

async function receive(request: IncomingMessage): Promise<void> {
  const digest = createHash('sha256')
  const cipher = createCipheriv('aes-256-gcm', randomBytes(32), randomBytes(12))
  const sealed: Buffer[] = []
  for await (const piece of request as AsyncIterable<Buffer>) {
    digest.update(piece)
    sealed.push(cipher.update(piece))
  }
  cipher.final()
  sealed.push(cipher.getAuthTag())
  digest.digest()
  const file = await open(join(folder, randomUUID()), 'wx')
  await file.writev(sealed)
  await file.sync()
  await file.close()
}

const server = createServer(async (request, response) => {
  await receive(request)
  response.writeHead(201).end()
})
server.listen(0, '127.0.0.1', () =>
  printLine(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
