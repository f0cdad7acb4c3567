import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { DocsBook } from '../../../src/derive/docs/book.ts'
import type { CodeSamples } from '../../../src/derive/docs/panel.ts'
import { MOST_USED } from '../../../src/derive/docs/parts.ts'
import { codeSamples } from '../../../src/derive/docs/samples.ts'
import { openapiDocument } from '../../../src/derive/openapi/document.ts'
import { startTestService } from '../../support/harness.ts'
import { aFolderWithThePackage } from '../../support/packages/installed.ts'
import { aPythonWithThePackage } from '../../support/packages/python.ts'

const run = promisify(execFile)

const [service, node, { folder: pythonFolder, python }] = await Promise.all([
  startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' } }),
  aFolderWithThePackage(),
  aPythonWithThePackage('wheel'),
])

const book = new DocsBook(openapiDocument(areas))

/** In an order in which each operation finds what it needs. */
const ORDER = [
  'wallets.create',
  'fund.wallet',
  'policies.create',
  'agents.create',
  'agents.fund',
  'agentTokens.create',
  'cards.create',
  'intents.create',
  'intents.get',
  'intents.approve',
  'mpp.pay',
  'intents.list',
  'transactions.list',
  'webhooks.create',
  'events.list',
]

/** An account with the records that the samples name, and those records in place of the examples. */
async function aPreparedAccount() {
  const { key } = await service.owner()
  const post = async (path: string, body: object) =>
    (await service.http('POST', path, { token: key, body })).body
  const wallet = await post('/wallets', { name: 'Money' })
  await post(`/wallets/${wallet.id}/fund`, { amountEuros: 500 })
  const agent = await post('/agents', { name: 'Reader' })
  await post(`/agents/${agent.id}/fund`, { amountEuros: 100, fromWalletId: wallet.id })
  const card = await post('/cards', { agentId: agent.id, usage: 'multi' })
  const intent = await post('/intents', {
    agentId: agent.id,
    amountEuros: 2.5,
    merchant: new URL(service.url).hostname,
    purpose: 'A report',
  })
  const records = { wallet, agent, card, intent }
  const fill = (sample: string): string =>
    Object.entries(records)
      .reduce(
        (text, [kind, { id }]) => text.replaceAll(`${kind}_01jd8x2m4ye7k9v0c3q5r6t8wz`, String(id)),
        sample,
      )
      .replaceAll('https://shop.example.com/reports/42', `${service.url}/simulate/mpp/paid`)
  const env = { KEY: key, URL: service.url, AGENTPAY_KEY: key, AGENTPAY_URL: service.url, HOME: node }
  return { key, intentId: String(intent.id), fill, env: { ...env, PATH: process.env.PATH ?? '' } }
}

const samplesIn = (language: keyof CodeSamples, fill: (sample: string) => string) =>
  ORDER.map(key => {
    const entry = book.entries.find(one => one.key === key)
    const sample = entry && codeSamples(book, entry)[language]
    if (sample === undefined) throw new Error(`${key} has no sample in ${language}`)
    return { key, sample: fill(sample) }
  })

type Env = Readonly<Record<string, string>>
type Samples = ReturnType<typeof samplesIn>

const shell = async (prologue: string, samples: Samples, env: Env): Promise<string> => {
  const script = samples.map(({ key, sample }) => `${sample}\necho "ran ${key}"`).join('\n')
  return (await run('bash', ['-euo', 'pipefail', '-c', `${prologue}\n${script}`], { env, cwd: node })).stdout
}

const programs: Readonly<Record<keyof CodeSamples, (samples: Samples, env: Env) => Promise<string>>> = {
  curl: (samples, env) => shell('curl() { command curl -sS --fail-with-body "$@"; echo; }', samples, env),
  cli: (samples, env) =>
    shell(`agentpay() { node node_modules/agentpay/bin/agentpay.mjs "$@"; }`, samples, env),
  typescript: async (samples, env) => {
    const blocks = samples.map(({ key, sample }) => `{\n${sample}\nconsole.log('ran ${key}')\n}`)
    const start = `import { AgentPay } from 'agentpay'\nconst pay = new AgentPay()`
    writeFileSync(join(node, 'samples.mjs'), [start, ...blocks].join('\n'))
    return (await run(process.execPath, ['samples.mjs'], { cwd: node, env })).stdout
  },
  python: async (samples, env) => {
    const lines = samples.map(({ key, sample }) => `${sample}\nprint("ran ${key}")`)
    const start = 'from agentpay import AgentPay\npay = AgentPay()'
    writeFileSync(join(pythonFolder, 'samples.py'), [start, ...lines].join('\n'))
    return python(['samples.py'], env)
  },
}

describe('the samples of the most used operations', () => {
  test('are those of the list on /docs/api', () => expect(ORDER.toSorted()).toEqual(MOST_USED.toSorted()))

  test.each(['curl', 'typescript', 'python', 'cli'] as const)(
    'run as shown in %s, and pay',
    async language => {
      const { key, intentId, fill, env } = await aPreparedAccount()
      const output = await programs[language](samplesIn(language, fill), env)
      expect([...output.matchAll(/^ran (\S+)$/gm)].map(([, ran]) => ran)).toEqual(ORDER)
      const { body } = await service.http('GET', `/intents/${intentId}`, { token: key })
      expect(body).toMatchObject({ status: 'completed', comment: 'Go ahead' })
    },
    60_000,
  )
})
