import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, expect, test } from '@jest/globals'
import { anOwnerAtTheBrowser, signedChoices, url, withoutBudget } from '../control/oauth/people.ts'
import {
  approvedCode,
  aRegisteredClient,
  CALLBACK,
  readJson,
  resourceAt,
} from '../support/control/assistants.ts'
import { bodyOf } from '../support/factories.ts'
import { AUTHORIZATION_OF_CLIENTS, AUTHORIZATION_SCENARIOS } from './mcp-conformance/scenarios.ts'
import { theSuite } from './mcp-conformance/suite.ts'

const run = promisify(execFile)

type Peer = ChildProcessByStdio<Writable, Readable, null>

const folder = mkdtempSync(join(tmpdir(), 'agentpay-authorization-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The address that the program wants its person to open. */
async function addressShown({ stdout }: Peer): Promise<URL> {
  for await (const line of createInterface({ input: stdout }))
    if (line.includes('/oauth/authorize?')) return new URL(line.trim())
  throw new Error('The program ended without an address.')
}

const authorizationAt = ({ searchParams }: URL) => ({
  query: Object.fromEntries(searchParams),
  verifier: '',
})

test('the official Python client signs in with nothing but the address, and buys within the mandate', async () => {
  const python = join(folder, 'python')
  await run('python3', ['-m', 'venv', python])
  await run(join(python, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', 'mcp==2.3.0'])
  const owner = await anOwnerAtTheBrowser()
  const { id: shop } = await bodyOf(owner.client.wallets.create({ body: { name: 'Shop' } }))
  const program = new URL('./mcp_client.py', import.meta.url).pathname
  const peer = spawn(join(python, 'bin/python'), [program, await resourceAt(url), CALLBACK, shop], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: peer.stdout })[Symbol.asyncIterator]()
  const asked = new URL(String((await lines.next()).value))
  const { redirectTo } = await approvedCode(owner.person, signedChoices(owner), authorizationAt(asked))
  peer.stdin.end(`${redirectTo}\n`)
  const { declared, paid } = JSON.parse(String((await lines.next()).value))
  expect([declared, paid.status]).toEqual(['approved', 'completed'])
}, 180_000)

/** Runs one scenario of an authorization server; a person approves what it shows. */
test('the protocol’s conformance suite passes in its scenarios for authorization servers', async () => {
  const suite = await theSuite()
  const owner = await anOwnerAtTheBrowser()
  const port = 20_000 + (process.pid % 10_000)
  const callback = `http://127.0.0.1:${port}/callback`
  const clientId = await aRegisteredClient(url, { client_name: 'Suite', redirect_uris: [callback] })
  const resource = await resourceAt(url)
  const { authorization_servers: servers } = await readJson(`${url}/.well-known/oauth-protected-resource/mcp`)
  const results = join(folder, 'results')
  const args = ['authorization', '--url', servers[0], '--client-id', clientId, '--resource', resource]
  const peer = spawn(process.execPath, [suite.program, ...args, '-p', String(port), '-o', results], {
    cwd: suite.folder,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise(resolve => peer.once('close', resolve))
  const asked = await addressShown(peer)
  const { redirectTo } = await approvedCode(owner.person, withoutBudget(owner), authorizationAt(asked))
  expect((await fetch(redirectTo)).status).toBe(200)
  peer.stdout.resume()
  await ended
  const checks = readdirSync(results).map(name => [
    name.replace(/^authorization-server-(.*)-\d{4}-\d\d-\d\dT.*$/, '$1'),
    JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')).map(
      ({ status }: { status: string }) => status,
    ),
  ])
  expect(Object.fromEntries(checks)).toEqual(AUTHORIZATION_SCENARIOS)
  const { stdout } = await run(process.execPath, [suite.program, 'list'], { cwd: suite.folder })
  const others = [...stdout.matchAll(/- (auth\/[\w-]+)/g)].map(([, name]) => name)
  expect(others.sort()).toEqual(AUTHORIZATION_OF_CLIENTS)
}, 180_000)
