import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { CardMerchant, CardMessageContent } from '../../../src/ports/card-processor.ts'
import { cents } from '../../../src/values/money.ts'
import { bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import {
  aPayer,
  balanceOf,
  begun,
  intentOf,
  network,
  paymentsOf,
  service,
  tokensOf,
  transactionsOf,
  usesOf,
} from './service.ts'

const REF = 'a'
const ASKED = cents(2_000n)

/** Reports about one machine payment of € 20.00: messages of the network, or the receipt. */
type Said = 'receipt' | ((merchant: CardMerchant) => CardMessageContent)

const anyCents = (most: number) => fc.bigInt(1n, BigInt(most)).map(cents)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const ask: Said = merchant => ({
  kind: 'authorization',
  authorizationId: REF,
  ask: 0,
  amountCents: ASKED,
  partialAllowed: false,
  merchant,
})

const everything = fc
  .record({
    isAsked: fc.boolean(),
    isProven: fc.boolean(),
    isReversed: fc.boolean(),
    isExpired: fc.boolean(),
    isTold: fc.boolean(),
    cleared: maybe(anyCents(2_500)),
    isFinal: fc.boolean(),
    refunded: maybe(anyCents(1_500)),
  })
  .map(({ isAsked, isProven, isReversed, isExpired, isTold, cleared, isFinal, refunded }) => {
    const said: Record<string, Said> = isAsked ? { ask } : {}
    if (isProven) said.receipt = 'receipt'
    if (isTold)
      said.outcome = merchant => ({
        kind: 'outcome',
        authorizationId: REF,
        asks: [{ amountCents: ASKED, approved: true }],
        merchant,
      })
    if (cleared !== undefined)
      said.clearing = merchant => ({
        kind: 'clearing',
        clearingId: 'clearing',
        authorizationId: REF,
        amountCents: cleared,
        final: isFinal,
        merchant,
      })
    // These messages name no token, only a payment that another message reported. A receipt completes its
    // intent for good, unless it was reversed before.
    const isNamed = !isProven && (isAsked || isTold || cleared !== undefined)
    if (isNamed && isReversed)
      said.reversal = () => ({ kind: 'reversal', authorizationId: REF, amountCents: null })
    if (isNamed && isExpired) said.expiry = () => ({ kind: 'expiry', authorizationId: REF })
    if (refunded !== undefined && cleared !== undefined)
      said.refund = merchant => ({
        kind: 'refund',
        refundId: 'refund',
        authorizationId: REF,
        amountCents: refunded,
        merchant,
      })
    return said
  })

const inAnyOrder = everything
  .filter(said => Object.keys(said).length > 0)
  .chain(said => {
    const names = Object.keys(said)
    return fc
      .tuple(
        fc.shuffledSubarray(names, { minLength: names.length }),
        fc.array(fc.constantFrom(...names), { maxLength: 2 }),
      )
      .map(([all, again]) => ({ said, order: [...all, ...again] }))
  })

/** Sends the reports in this order for a new owner's machine payment, and returns the resulting state. */
async function standingAfter(said: Readonly<Record<string, Said>>, order: readonly string[]) {
  const { client } = await service.owner()
  const { agent, card, intent } = await aPayer({}, client)
  const { tokenId, settle } = await begun({ card, intent }, 20, client)
  const merchant = {
    descriptor: 'SHOP',
    mcc: null,
    city: null,
    country: null,
    url: null,
    networkTokenId: tokenId,
  }
  const messages = new Map<string, Awaited<ReturnType<typeof network.messageOf>>>()
  for (const [name, content] of Object.entries(said))
    if (content !== 'receipt') messages.set(name, await network.messageOf(card.id, content(merchant)))
  for (const name of order) {
    const message = messages.get(name)
    await (message ? network.deliver(message) : settle('paid'))
  }
  await expectVerifiedLedger(client)
  const payments = (await paymentsOf(card.id, client)).map(
    ({ status, source, heldEuros, clearedEuros, refundedEuros }) => ({
      status,
      source,
      heldEuros,
      clearedEuros,
      refundedEuros,
    }),
  )
  const transactions = (await transactionsOf(card.id, client)).map(
    ({ type, status, amountEuros, refundedEuros }) => ({ type, status, amountEuros, refundedEuros }),
  )
  const [token] = await tokensOf(card.id, client)
  return {
    balance: await balanceOf(agent.id, client),
    uses: await usesOf([agent.id, card.id]),
    payments,
    transactions,
    intent: (await intentOf(intent.id, client)).status,
    owed: (await bodyOf(client.billing.balance())).owedEuros,
    spent: token?.spentEuros,
  }
}

describe('the messages about a machine payment, and its receipt, in any order and repeated', () => {
  test('end as in the natural order: one payment, counted and captured once', async () => {
    await fc.assert(
      fc.asyncProperty(inAnyOrder, async ({ said, order }) => {
        const natural = await standingAfter(said, Object.keys(said))
        expect(natural.payments.length).toBe(1)
        expect(natural.transactions.length).toBeLessThanOrEqual(1)
        expect(await standingAfter(said, order)).toEqual(natural)
      }),
      { numRuns: 5, verbose: 1 },
    )
  })
})
