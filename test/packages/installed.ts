import { execFile, spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { signedHeaders } from '../../src/values/webhook-signature.ts'
import { nodes } from '../support/packages/installed.ts'
import { loadedWith } from '../support/packages/loaded.ts'
import { folder, service } from './installed-service.ts'

const run = promisify(execFile)
const installed = join(folder, 'node_modules/agentpay')

const readme = readFileSync('src/packages/typescript/README.md', 'utf8')
const flow = /<!-- flow -->\n```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''

async function environment(): Promise<Record<string, string>> {
  const { key } = await service.owner()
  return { AGENTPAY_URL: service.url, AGENTPAY_KEY: key, HOME: folder, PATH: process.env.PATH ?? '' }
}

async function runProgram(node: string, text: string, env: Record<string, string> = {}): Promise<string> {
  writeFileSync(join(folder, 'program.mjs'), text)
  return (await run(node, ['program.mjs'], { cwd: folder, env: { ...(await environment()), ...env } })).stdout
}

describe('the package of TypeScript, installed by npm in an empty folder', () => {
  test.each(nodes)('runs the flow of its README on %s', async node => {
    const told = JSON.parse(await runProgram(node, flow))
    expect(told).toMatchObject({
      small: { status: 'approved', decidedBy: { type: 'policy' } },
      approved: { status: 'approved', comment: 'Go ahead' },
      refused: 'run_not_found',
      proof: { ok: true, problems: [] },
      balance: { availableEuros: 25.5, heldEuros: 9.5 },
    })
    expect(told.intents.map(([, status]: string[]) => status)).toEqual(['completed', 'approved'])
  })

  test('runs what the README of the project shows', async () => {
    const shown =
      /```ts\n(import \{ AgentPay \}[\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))?.[1] ?? ''
    expect(await runProgram(process.execPath, shown)).toBe('agent.created\n')
  })

  test('brings no other package, no source, and no word of the server', () => {
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    expect(dependencies).toBeUndefined()
    expect(readdirSync(join(folder, 'node_modules')).filter(name => !name.startsWith('.'))).toEqual([
      'agentpay',
    ])
    const names = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    expect(names.filter(name => name.endsWith('.ts') && !name.endsWith('.d.ts'))).toEqual([])
    expect(names.filter(name => /zod|mikro|express|areas/.test(name))).toEqual([])
  })

  test('loads at most 60 kB for the client, and no module of Node, so that browsers take it too', () => {
    const loaded = loadedWith(join(installed, 'lib/index.js'))
    expect([...loaded.values()].join('').length).toBeLessThanOrEqual(60_000)
    expect([...loaded.values()].filter(text => /from 'node:|require\(/.test(text))).toEqual([])
  })

  test('verifies a webhook', async () => {
    const headers = signedHeaders(
      {
        deliveryId: 'delivery_01jd8x2m4ye7k9v0c3q5r6t8wz-1.274877906944',
        eventId: 'event_01jd8x2m4yf0r5s8a6b1c7d9xk',
        at: new Date(),
        event: 'agent.frozen',
        body: '{"data":{"merchant":"Bäckerei 🥐"}}',
        requestId: 'request-1',
      },
      { current: 'whsec_a', next: null },
    )
    const program = (secret: string) => `import { verifyWebhook } from 'agentpay/verify'
      const body = '{"data":{"merchant":"Bäckerei 🥐"}}'
      try { console.log(verifyWebhook(${JSON.stringify(headers)}, body, '${secret}').data.merchant) }
      catch (error) { console.log(error.constructor.name) }`
    expect(await runProgram(process.execPath, program('whsec_a'))).toBe('Bäckerei 🥐\n')
    expect(await runProgram(process.execPath, program('whsec_b'))).toBe('WebhookRejected\n')
  })

  test.each(nodes)('runs its command on %s, and says what it is not told', async node => {
    const command = join(folder, 'node_modules/agentpay/bin/agentpay.mjs')
    const { stdout } = await run(node, [command, 'customers', 'me', '--json'], { env: await environment() })
    expect(JSON.parse(stdout)).toMatchObject({ id: expect.stringMatching(/^owner_|^customer_/) })
    await expect(run(node, [command, 'intents', 'list'], { env: { HOME: folder } })).rejects.toMatchObject({
      code: 3,
    })
  })

  test('serves an assistant with tools over standard input and output', async () => {
    const command = spawn(process.execPath, [join(folder, 'node_modules/.bin/agentpay'), 'mcp'], {
      env: await environment(),
    })
    const call = (id: number, method: string, params: object) =>
      JSON.stringify({ jsonrpc: '2.0', id, method, params })
    command.stdin.end(
      `${call(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } })}\n`,
    )
    const answer = JSON.parse((await buffer(command.stdout)).toString())
    expect(answer).toMatchObject({
      id: 1,
      result: { protocolVersion: '2025-06-18', capabilities: { tools: {} } },
    })
  })
})

const typed = `import { AgentPay, isRefusal, type Intent, type RefusalCodes } from 'agentpay'
import { verifyWebhook, type WebhookMessage } from 'agentpay/verify'
const pay = new AgentPay({ url: 'http://127.0.0.1:1' })
const intent: Intent = await pay.intents.create({ amountEuros: 2, purpose: 'A page' })
for await (const one of pay.intents.list({ limit: 3 })) one.amountEuros.toFixed()
const first: string | undefined = (await pay.intents.list()).data[0]?.id
for await (const event of pay.events.stream({ event: 'agent.frozen' })) event.event.trim()
const bytes: ArrayBuffer = await (await pay.statements.pdf('statement_1')).arrayBuffer()
const message: WebhookMessage = verifyWebhook({}, '', '')
// @ts-expect-error a member that the operation does not know
await pay.intents.create({ amountEuros: 2, purpose: 'A page', colour: 'blue' })
// @ts-expect-error a member that must not be missing
await pay.intents.create({ amountEuros: 2 })
// @ts-expect-error an id that is no text
await pay.intents.get(7)
// @ts-expect-error no such operation
await pay.intents.destroy('intent_1')
try {} catch (error) {
  if (isRefusal(error, 'agents.get')) {
    const code: RefusalCodes['agents.get'] = error.code
    if (code === 'agent_not_found' || code === 'rate_limited') throw error
    // @ts-expect-error the operation has no such refusal
    if (code === 'card_closed') throw error
  }
}
export { bytes, first, intent, message }
`

test('the types of the package hold a program to the contract, without the types of Node', async () => {
  writeFileSync(join(folder, 'typed.mts'), typed)
  const compiler = join(process.cwd(), 'node_modules/typescript/bin/tsc')
  const flags = ['--ignoreConfig', '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--types', '']
  const lib = ['--target', 'es2022', '--lib', 'es2022,dom,dom.asynciterable', '--module', 'nodenext']
  const compiled = run(process.execPath, [compiler, ...flags, ...lib, 'typed.mts'], { cwd: folder })
  await expect(compiled.catch(error => error)).resolves.toMatchObject({ stdout: '' })
})
