import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import pg from 'pg'
import { clientAt } from '../../support/client.ts'
import { type Parties, paymentTokensIn, tokenOf } from '../../support/commerce/payment-tokens.ts'
import { balanceOf } from '../../support/commerce/requests.ts'
import { withoutArrivals } from '../../support/commerce/without-arrivals.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { startApi } from '../../support/processes/processes.ts'
import { testKills } from '../../support/tier.ts'
import { until } from '../../support/until.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService({ own: true })
const { parties } = paymentTokensIn(service)

async function expectVerified({ payer, payee }: Parties): Promise<void> {
  await expectVerifiedLedger(payer.client)
  await expectVerifiedLedger(payee.client)
}

const balances = async ({ payer, payee, agent, wallet }: Parties) => [
  ...(await balanceOf(payer.client, agent.walletId)),
  (await balanceOf(payee.client, wallet.id))[0],
]

describe('of a charge and an end at once exactly one happens:', () => {
  test.each<[string, (all: Parties, id: string) => Promise<unknown>, string]>([
    ['revoking', ({ payer }, id) => payer.client.paymentTokens.revoke({ params: { id } }), 'revoked'],
    [
      'cancelling the intent',
      async ({ payer }, id) => {
        const { intentId } = await tokenOf(payer.client, id)
        return payer.client.intents.cancel({ params: { id: intentId }, body: {} })
      },
      'revoked',
    ],
    ['expiring', ({ payer }) => payer.client.sandbox.advance({ body: { minutes: 16 } }), 'expired'],
  ])('%s', async (_, end, status) => {
    const all = await parties({})
    const seen = new Set<string>()
    for (let round = 0; round < 4; round++) {
      const before = await balances(all)
      const { token, id } = await bodyOf(all.make())
      const [charged] = await Promise.all([all.charge(token, 2), end(all, id)])
      const after = await tokenOf(all.payer.client, id)
      seen.add(after.status)
      const taken = charged.status === 200 ? 2 : 0
      expect(after).toMatchObject(taken > 0 ? { status: 'charged', chargedEuros: 2 } : { status })
      expect(await balances(all)).toEqual([Number(before[0]) - taken, 0, Number(before[2]) + taken])
    }
    expect([...seen].every(one => one === 'charged' || one === status)).toBe(true)
    await expectVerified(all)
  })
})

test('a charge that the payee cannot book takes nothing', async () => {
  const all = await parties({})
  const { payee, make, charge } = all
  const { token } = await bodyOf(make())
  await withoutArrivals(service, payee.ownerId, async () => expect((await charge(token, 4)).status).toBe(500))
  expect(await balances(all)).toEqual([9_995, 5, 0])
  const { transactionId } = await bodyOf(charge(token, 4))
  expect(await balances(all)).toEqual([9_996, 0, 4])
  expect(await bodyOf(payee.client.transactions.get({ params: { id: transactionId } }))).toMatchObject({
    type: 'collect',
    amountEuros: 4,
  })
  await expectVerified(all)
})

/** A process is killed while it waits for the accounts of a locked wallet. */
async function takesNothing(all: Parties, walletId: string): Promise<void> {
  const { payee, agent, make, charge } = all
  const { token, id } = await bodyOf(make())
  const api = await startApi(service.databaseUrl)
  const locker = new pg.Client({ connectionString: service.databaseUrl })
  await locker.connect()
  await locker.query('begin')
  await locker.query('select from ledger_accounts where wallet_id = $1 for update', [walletId])
  const client = clientAt({ url: api.url, token: payee.key })
  const answer = charge(token, 5, { client, idempotencyKey: 'killed' }).catch(() => 'lost')
  await until('it waits for the lock', async () => {
    const waiting = await service.sql(
      `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    )
    return waiting.length > 0
  })
  api.kill('SIGKILL')
  await api.exit
  expect(await answer).toBe('lost')
  await locker.end()
  expect(await balances(all)).toEqual([9_995, 5, 0])
  expect(await tokenOf(all.payer.client, id)).toMatchObject({ status: 'active' })
  // PostgreSQL ends the transaction of the killed process when it finds its connection closed: until then the key is in use.
  const again = () => charge(token, 5, { idempotencyKey: 'killed' })
  await until('the key is free', async () => (await again()).status !== 409)
  expect(await bodyOf(again())).toMatchObject({ status: 'completed', agentId: agent.id, amountEuros: 5 })
  expect(await charge(token)).toMatchObject({ status: 410 })
  expect(await balances(all)).toEqual([9_995, 0, 5])
  await expectVerified(all)
}

describe('a charge whose process is killed', () => {
  testKills({
    'before the payee has booked has taken nothing, and is made for the same key': async () => {
      const all = await parties({})
      await takesNothing(all, all.wallet.id)
    },
    'before the payer has paid has taken nothing, and is made for the same key': async () => {
      const all = await parties({})
      await takesNothing(all, all.agent.walletId)
    },
  })
})

type Step =
  | { readonly kind: 'make'; readonly cents: number }
  | { readonly kind: 'charge'; readonly index: number; readonly cents: number }
  | { readonly kind: 'revoke'; readonly index: number }
  | { readonly kind: 'wait' }

const cents = fc.integer({ min: 1, max: 500 })
const index = fc.nat({ max: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('make' as const), cents }),
  fc.record({ kind: fc.constant('charge' as const), index, cents }),
  fc.record({ kind: fc.constant('revoke' as const), index }),
  fc.record({ kind: fc.constant('wait' as const) }),
)

interface Model {
  readonly id: string
  readonly token: string
  readonly cents: number
  status: 'active' | 'charged' | 'revoked' | 'expired'
}

async function take(step: Step, all: Parties, tokens: Model[], paid: { cents: number }): Promise<void> {
  if (step.kind === 'make') {
    const { id, token } = await bodyOf(all.make({ amountEuros: step.cents / 100 }))
    tokens.push({ id, token: String(token), cents: step.cents, status: 'active' })
  }
  if (step.kind === 'wait') {
    await bodyOf(all.payer.client.sandbox.advance({ body: { minutes: 16 } }))
    for (const token of tokens) if (token.status === 'active') token.status = 'expired'
  }
  const token = 'index' in step ? tokens[step.index] : undefined
  if (step.kind === 'charge' && token) {
    const { status } = await all.charge(token.token, step.cents / 100)
    const isActive = token.status === 'active'
    expect(status).toBe(isActive ? (step.cents <= token.cents ? 200 : 400) : 410)
    if (status === 200) Object.assign(token, { status: 'charged' })
    if (status === 200) paid.cents += step.cents
  }
  if (step.kind === 'revoke' && token) {
    const { status } = await all.payer.client.paymentTokens.revoke({ params: { id: token.id } })
    expect(status).toBe(token.status === 'active' ? 200 : 400)
    if (status === 200) token.status = 'revoked'
  }
}

test('any sequence of tokens, charges and revocations keeps each cent with one owner', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async steps => {
    const all = await parties({})
    const tokens: Model[] = []
    const paid = { cents: 0 }
    for (const step of steps) await take(step, all, tokens, paid)
    const held = tokens.reduce((sum, { status, cents }) => (status === 'active' ? sum + cents : sum), 0)
    const inCents = (await balances(all)).map(euros => Math.round(Number(euros) * 100))
    expect(inCents).toEqual([1_000_000 - paid.cents - held, held, paid.cents])
    for (const { id, status } of tokens) expect(await tokenOf(all.payer.client, id)).toMatchObject({ status })
    await expectVerified(all)
  })
  await fc.assert(property, { numRuns: 6 })
})
