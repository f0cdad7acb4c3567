import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { type Conduct, demand, type Merchant, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, intentOf, type Payer, pay } from '../../support/commerce/payers.ts'
import { changePolicy, revokeTokens, withdrawals } from '../../support/commerce/withdrawals.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { service } from './service.ts'

const merchant = await startMerchant()

/** Answers 402 once something has happened: between the first request and the minting. */
const demandAfter =
  (happens: () => Promise<unknown>): Conduct =>
  async (visit, response) => {
    await happens()
    demand()(visit, response)
  }

/** Answers once this many requests wait. */
function together(count: number): Conduct {
  const waiting: (() => void)[] = []
  return (visit, response) => {
    waiting.push(() => demand()(visit, response))
    if (waiting.length === count) for (const answer of waiting) answer()
  }
}

/** The sandbox does not show how many network tokens were deleted; the service shows that none is on record. */
const tokensOn = async ({ client, card }: Payer) =>
  (await bodyOf(client.agentCredentials.list({ query: { cardId: card.id } }))).data

async function expectUnpaid(payer: Payer, { payments }: Merchant, path: string): Promise<void> {
  expect(payments(path)).toEqual([])
  expect(await credentialsOn(payer.client, payer.intent.id)).toEqual([])
  expect(await tokensOn(payer)).toEqual([])
}

const changes: typeof withdrawals = [
  ...withdrawals,
  ['the policy wants another method', 403, 'payment_denied', changePolicy({ mppMethods: ['stripe'] })],
  [
    'the limits of the card are lowered',
    403,
    'payment_denied',
    ({ client, card }) =>
      bodyOf(client.cards.setLimits({ params: { id: card.id }, body: { maxTransactionEuros: 5 } })),
  ],
  [
    'the intent is cancelled',
    400,
    'intent_not_approved',
    ({ client, intent }) => bodyOf(client.intents.cancel({ params: { id: intent.id }, body: {} })),
  ],
  [
    'the intent expires',
    400,
    'intent_expired',
    ({ intent }) => service.sql('update intents set expires_at = now() where id = $1', [intent.id]),
  ],
]

describe('nothing is minted if, after the merchant was asked,', () => {
  test.each(changes)('%s: %i %s', async (what, status, code, change) => {
    const path = `/${what.replace(/\W+/g, '-')}`
    const payer = await aPayer(service)
    const url = merchant.sells(
      path,
      demandAfter(() => change(payer)),
    )
    const answer = await pay(payer, url)
    expect([answer.status, answer.code]).toEqual([status, code])
    await expectUnpaid(payer, merchant, path)
  })
})

describe('twelve payments at once, whose token is revoked,', () => {
  const COUNT = 12
  const held = (): { asks: Conduct; release: () => void; all: Promise<void> } => {
    const waiting: (() => void)[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const asks: Conduct = (visit, response) => {
      waiting.push(() => demand()(visit, response))
      if (waiting.length === COUNT) resolve()
    }
    const release = () => {
      for (const answer of waiting) answer()
    }
    return { asks, all: promise, release }
  }
  const asking = async (path: string) => {
    const payer = await aPayer(service)
    const { asks, all, release } = held()
    const url = merchant.sells(path, asks)
    const members = { merchant: '127.0.0.1', amountEuros: 20 }
    const intents = await times(COUNT, () => anIntent(payer.client, payer.agent.id, members))
    const answers = intents.map(intent => pay({ ...payer, intent }, url))
    await all
    const count = async (status: string) =>
      (await bodyOf(payer.client.mpp.list({ query: { limit: 100 } }))).data.filter(
        one => one.status === status,
      ).length
    return { payer, release, answers, count }
  }

  test('while the merchant delays its 402, send nothing', async () => {
    const { payer, release, answers, count } = await asking('/all-revoked')
    await revokeTokens(payer)
    release()
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({ status: 403, code: 'asker_not_allowed' })
    expect(merchant.payments('/all-revoked')).toEqual([])
    expect([await count('consumed'), (await tokensOn(payer)).length]).toEqual([0, 0])
  })

  test('as the merchant answers, are each paid once or not at all', async () => {
    const { payer, release, answers, count } = await asking('/some-revoked')
    const revoked = revokeTokens(payer)
    release()
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    await revoked
    const paid = statuses.filter(status => status === 200).length
    expect(statuses.filter(status => status === 403)).toHaveLength(COUNT - paid)
    expect(merchant.payments('/some-revoked')).toHaveLength(paid)
    expect(await count('consumed')).toBe(paid)
  })
})

describe('two pays on one intent at once', () => {
  test('one is paid, the other refused, and its token given back', async () => {
    const payer = await aPayer(service)
    const before = await balanceOf(payer)
    const url = merchant.sells('/twice', together(2))
    const answers = await Promise.all([pay(payer, url), pay(payer, url)])
    const codes = answers.map(({ status, code }) => [status, code])
    expect(codes).toContainEqual([200, undefined])
    const other = codes.find(([status]) => status !== 200)
    expect(['intent_being_paid', 'intent_not_approved']).toContain(other?.[1])
    expect(merchant.payments('/twice')).toHaveLength(1)
    expect(await credentialsOn(payer.client, payer.intent.id)).toHaveLength(1)
    expect(await tokensOn(payer)).toHaveLength(1)
    expect((await balanceOf(payer)).heldEuros).toBe(before.heldEuros - 20)
    expect(await intentOf(payer)).toMatchObject({ status: 'completed' })
  })
})
