import { execFile, spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { quickstartSteps } from '../../src/derive/docs/quickstart.ts'
import { freePort } from '../../src/dev/processes/free-port.ts'
import { signWebhookHeaders } from '../../src/values/webhook-signature.ts'
import { nodes } from '../support/packages/installed.ts'
import { loadedWith } from '../support/packages/loaded.ts'
import { launch } from '../support/processes/launched.ts'
import { until } from '../support/until.ts'
import { folder, service } from './installed-service.ts'

const run = promisify(execFile)
const installed = join(folder, 'node_modules/agentpay')

const projectReadme = readFileSync('README.md', 'utf8')
const webhookGuide = readFileSync('docs/how-to/webhooks.md', 'utf8')
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
    const shown = /```ts\n(import \{ AgentPay \}[\s\S]*?)```/.exec(projectReadme)?.[1] ?? ''
    const lines = (await runProgram(process.execPath, shown)).split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/^agent_\w+ active Reader$/),
      expect.stringMatching(/^intent_\w+ created 2\.5$/),
      expect.stringMatching(/^intent_\w+ approved Go ahead$/),
      expect.stringMatching(/^mppcredential_\w+ 200 true$/),
      '',
    ])
  })

  test('runs the quickstart of /docs', async () => {
    const env = await environment()
    const steps = quickstartSteps(service.url).map(({ typescript }) => typescript)
    const told = await runProgram(process.execPath, steps.slice(0, -1).join('\n'), env)
    expect(told).toMatch(/^policy_\w+\ncreated\n/)
    for (const line of ['availableEuros: 17.5', 'closingEuros: 17.5', 'transaction.completed {', 'ok: true'])
      expect(told).toContain(line)
  })

  test.each(['the quickstart of /docs', 'the guide to webhooks'])(
    'verifies a webhook by the receiver in %s',
    async place => {
      const shown = /```ts\n(import \{ createServer \}[\s\S]*?)```/.exec(webhookGuide)?.[1] ?? ''
      const program = join(folder, 'receiver.mjs')
      writeFileSync(
        program,
        place.startsWith('the quick') ? (quickstartSteps('').at(-1)?.typescript ?? '') : shown,
      )
      const PORT = String(await freePort(0))
      const receiver = launch(process.execPath, [program], {
        PORT,
        AGENTPAY_WEBHOOK_SECRET: 'whsec_a',
      })
      const body =
        '{"event":"agent.frozen","createdAt":"2026-11-20T09:30:00.000Z","data":{"agentId":"agent_1"}}'
      const event = { deliveryId: 'delivery_1-1', eventId: 'event_1', at: new Date(), event: 'agent.frozen' }
      const send = (secret: string) => {
        const headers = signWebhookHeaders(
          { ...event, body, requestId: 'r1' },
          { current: secret, next: null },
        )
        return fetch(`http://127.0.0.1:${PORT}/`, { method: 'POST', headers, body }).then(
          ({ status }) => status,
          () => undefined,
        )
      }
      expect(await until('the receiver', () => send('whsec_a'))).toBe(204)
      expect(await send('whsec_b')).toBe(400)
      await receiver.untilOutput(/agent\.frozen \{ agentId: 'agent_1' \}/)
      receiver.kill('SIGKILL')
      const without = launch(process.execPath, [program], { PORT })
      expect([await without.exit, without.output()]).toEqual([
        1,
        expect.stringContaining('Set AGENTPAY_WEBHOOK_SECRET'),
      ])
    },
  )

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
    const headers = signWebhookHeaders(
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

  test('offers no command whose program is only in the checkout', async () => {
    const command = join(folder, 'node_modules/agentpay/bin/agentpay.mjs')
    const { stdout } = await run(process.execPath, [command, 'gdpr', '--help'])
    expect(stdout).toContain('list-erasures')
    expect(stdout).not.toContain('reapply')
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
// @ts-expect-error an id in place of the object, which is refused when it runs
const named = (): unknown => pay.intents.list('agent_1')
// @ts-expect-error an object in place of the id
const unnamed = (): unknown => pay.intents.get({ intentId: 'intent_1' })
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
export { bytes, first, intent, message, named, unnamed }
`

/** Compiles programs in the folder with the package, and returns the compiler's output. */
async function compiled(programs: Readonly<Record<string, string>>, ...flags: string[]): Promise<string> {
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text)
  const compiler = join(process.cwd(), 'node_modules/typescript/bin/tsc')
  const strict = ['--ignoreConfig', '--noEmit', '--strict', '--exactOptionalPropertyTypes']
  const target = ['--target', 'es2022', '--module', 'nodenext']
  const all = [compiler, ...strict, ...target, ...flags, ...Object.keys(programs)]
  return run(process.execPath, all, { cwd: folder })
    .catch(error => error)
    .then(({ stdout }) => stdout)
}

test('the types of the package hold a program to the contract, without the types of Node', async () => {
  const lib = ['--types', '', '--lib', 'es2022,dom,dom.asynciterable']
  expect(await compiled({ 'typed.mts': typed }, ...lib)).toBe('')
})

const samplesIn = (page: string): string[] =>
  [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text = '']) => text)

/** The package's examples in the guides; contributors read other code, and programs that need other packages are skipped. */
const guided = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.md') && !/^(?:decisions|contributing)\//.test(name))
  .flatMap(name => samplesIn(readFileSync(join('docs', name), 'utf8')))
  .filter(text => !text.includes("from 'jose'"))

test('what the README, the README of the package, the guides and /docs show compiles strictly', async () => {
  const shown = [...samplesIn(projectReadme), ...guided]
  const steps = quickstartSteps('http://127.0.0.1:1').map(({ typescript }) => typescript)
  const texts = [...shown, flow, steps.slice(0, -1).join('\n'), String(steps.at(-1))]
  expect(guided.length).toBeGreaterThanOrEqual(4)
  expect(texts).toHaveLength(4 + guided.length)
  const programs = texts.map((text, n) => [`shown-${n}.mts`, text] as const)
  const types = ['--types', 'node', '--typeRoots', join(process.cwd(), 'node_modules/@types')]
  expect(await compiled(Object.fromEntries(programs), ...types)).toBe('')
})
