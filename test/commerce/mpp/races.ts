import { describe, expect, test } from '@jest/globals'
import { type Conduct, demand, type Merchant, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, intentOf, type Payer, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
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

const changes: readonly (readonly [string, number, string, (payer: Payer) => Promise<unknown>])[] = [
  [
    'a rule is added',
    403,
    'merchant_denied',
    ({ client }) => bodyOf(client.mpp.protect({ body: { type: 'deny', merchant: '127.0.0.1' } })),
  ],
  [
    'an allow rule is added for somebody else',
    403,
    'merchant_not_allowed',
    ({ client }) => bodyOf(client.mpp.protect({ body: { type: 'allow', merchant: 'shop.example.com' } })),
  ],
  [
    'the agent is frozen',
    400,
    'agent_not_active',
    ({ client, agent }) => client.agents.freeze({ params: { id: agent.id }, body: {} }),
  ],
  [
    'the card is closed',
    400,
    'card_cannot_pay',
    ({ client, card }) => bodyOf(client.cards.close({ params: { id: card.id }, body: {} })),
  ],
  [
    'the card is frozen',
    400,
    'card_cannot_pay',
    ({ client, card }) => bodyOf(client.cards.freeze({ params: { id: card.id }, body: {} })),
  ],
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
