import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { verifySigned } from '../../src/derive/client.ts'
import { aFundedAgent, aPolicy, aToken, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { busy } from '../support/http/in-front.ts'
import { launch } from '../support/processes/launched.ts'

const EXAMPLES = 'examples/machine-payments'
const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' } })
const folder = mkdtempSync(join(tmpdir(), 'examples-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function aBuyer() {
  const { client } = await service.owner()
  const { id: policyId } = await aPolicy(client, { autoApproveLimitEuros: 5 })
  const agent = await aFundedAgent(client, { policyId })
  await bodyOf(client.cards.create({ body: { agentId: agent.id, usage: 'multi', displayName: 'Reports' } }))
  return { client, token: String((await aToken(client, agent.id)).token) }
}

async function startMerchant(): Promise<string> {
  const merchant = launch(process.execPath, [`${EXAMPLES}/merchant.mjs`], { PORT: '0' })
  return (await merchant.untilOutput(/http:\S+/))[0]
}

const checkEvidence = async (evidence: string, keys: string) => {
  const check = launch(process.execPath, [`${EXAMPLES}/check-evidence.mjs`, evidence, keys])
  return { code: await check.exit, output: check.output() }
}

test('the payer buys from the merchant, and the evidence is checked without the service', async () => {
  const address = await startMerchant()
  const payer = launch(process.execPath, [`${EXAMPLES}/payer.mjs`, address, folder], {
    API_URL: await busy(service.url),
    AGENT_TOKEN: (await aBuyer()).token,
  })
  expect([await payer.exit, payer.output()]).toEqual([0, expect.stringContaining('bought: { report:')])
  expect(payer.output()).toMatch(/externalId: 'order-[\da-f-]{36}'/)
  const [evidenceFile, keysFile] = [join(folder, 'evidence.jws'), join(folder, 'jwks.json')]
  const { code, output } = await checkEvidence(evidenceFile, keysFile)
  expect([code, output]).toEqual([0, expect.stringContaining(`url: '${address}'`)])
  const [evidence, keys] = [evidenceFile, keysFile].map(file => readFileSync(file, 'utf8'))
  const claims = verifySigned(String(evidence), JSON.parse(String(keys)), 'payment-evidence')
  expect(claims).toMatchObject({
    mode: 'test',
    intent: { amountEuros: 5, merchant: '127.0.0.1' },
    credential: { amountEuros: 2.5, status: 'consumed' },
    request: { method: 'GET', url: address, answeredWith: 200 },
  })
  const altered = join(folder, 'altered.jws')
  const [header, , signature] = String(evidence).split('.')
  const text = JSON.stringify({ ...claims, ownerId: 'customer_of_another' })
  writeFileSync(altered, [header, Buffer.from(text).toString('base64url'), signature].join('.'))
  expect(await checkEvidence(altered, keysFile)).toMatchObject({ code: 1 })
  const foreign = join(folder, 'foreign.json')
  writeFileSync(foreign, '{"keys":[]}')
  for (const [given, jwks] of [
    [evidenceFile, foreign],
    [join(folder, 'missing.jws'), keysFile],
  ] as const)
    expect(await checkEvidence(given, jwks)).toEqual({
      code: 1,
      output: expect.stringMatching(/^This proves nothing\. /),
    })
})

test('a payment that is asked for once is paid when a person approves it', async () => {
  const address = await startMerchant()
  const agent = await aBuyer()
  const payer = launch(process.execPath, [`${EXAMPLES}/ask-once.mjs`, address, '20'], {
    API_URL: service.url,
    AGENT_TOKEN: agent.token,
  })
  const [, intentId = ''] = await payer.untilOutput(/approve\/(intent_\w+)/)
  expect(payer.output()).toContain('is waiting')
  await bodyOf(agent.client.intents.approve({ params: { id: intentId }, body: {} }))
  await bodyOf(agent.client.sandbox.advance({ body: { minutes: 1 } }))
  expect([await payer.exit, payer.output()]).toEqual([0, expect.stringContaining('bought: { report:')])
})

test('the merchant sells once for a credential, and gives the same answer to the same one again', async () => {
  const address = await startMerchant()
  const agent = service.client((await aBuyer()).token)
  const purpose = 'A report'
  const intent = await bodyOf(
    agent.intents.create({ body: { amountEuros: 2.5, merchant: '127.0.0.1', purpose } }),
  )
  const challenge = (await fetch(address)).headers.get('www-authenticate') ?? ''
  const { credential } = await bodyOf(
    agent.mpp.mint({ body: { url: address, challenge, intentId: intent.id } }),
  )
  const send = async (authorization: string) => {
    const { status, headers } = await fetch(address, { headers: { authorization } })
    return { status, receipt: headers.get('payment-receipt'), challenge: headers.get('www-authenticate') }
  }
  const first = await send(String(credential))
  expect(first).toEqual({ status: 200, receipt: expect.any(String), challenge: null })
  expect(await send(String(credential))).toEqual(first)
  const other = {
    ...JSON.parse(Buffer.from(String(credential).slice(8), 'base64url').toString()),
    source: 'x',
  }
  const again = await send(`Payment ${Buffer.from(JSON.stringify(other)).toString('base64url')}`)
  expect(again).toEqual({ status: 402, receipt: null, challenge: expect.stringMatching(/^Payment /) })
})

test('the merchant refuses what it cannot read, what it has not offered, and what pays nothing', async () => {
  const address = await startMerchant()
  const ask = (credential?: string) =>
    fetch(address, credential ? { headers: { authorization: `Payment ${credential}` } } : {})
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const { headers, status } = await ask()
  expect([status, headers.get('cache-control')]).toEqual([402, 'no-store'])
  const offered = headers.get('www-authenticate') ?? ''
  const challenge = Object.fromEntries(
    [...offered.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
  const payload = { encryptedPayload: 'a.b.c.d.e' }
  const refused: [unknown, string][] = [
    [null, 'malformed-credential'],
    [[], 'malformed-credential'],
    [{ challenge: null, payload }, 'malformed-credential'],
    [{ challenge: { ...challenge, expires: '2999-01-01T00:00:00Z' }, payload }, 'invalid-challenge'],
    [{ challenge: { ...challenge, realm: 'other:1' }, payload }, 'invalid-challenge'],
    [{ challenge, payload }, 'verification-failed'],
    [{ challenge, payload: {} }, 'verification-failed'],
  ]
  for (const [credential, problem] of refused) {
    const answer = await ask(encode(credential))
    const { type } = (await answer.json()) as { type: string }
    expect([answer.status, type]).toEqual([402, `https://paymentauth.org/problems/${problem}`])
    expect(answer.headers.get('www-authenticate')).toMatch(/^Payment id="/)
    expect(answer.headers.get('payment-receipt')).toBeNull()
  }
})
