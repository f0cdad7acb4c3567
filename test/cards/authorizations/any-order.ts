import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { CardMessageContent } from '../../../src/ports/card-processor.ts'
import { addCents, type Cents, cents } from '../../../src/values/money.ts'
import { aPayingCard, bookshop } from '../../support/cards/network.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { balanceOf, network, owed, paymentsOf, service, transactionsOf, usesOf } from './service.ts'

type Named = Readonly<Record<string, CardMessageContent>>

const merchant = bookshop
const anyCents = (most: number) => fc.bigInt(1n, BigInt(most)).map(cents)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const request = (authorizationId: string, ask: number, amountCents: Cents): CardMessageContent => ({
  kind: 'authorization',
  authorizationId,
  ask,
  amountCents,
  partialAllowed: false,
  merchant,
})

/**
 * The facts of one payment, by their names. A clearing above the hold of an intent would find the intent only
 * after the request.
 */
const factsOf = (authorizationId: string, asked: Cents) =>
  fc
    .record({
      reversed: maybe(fc.option(anyCents(4_000))),
      clearings: fc.array(anyCents(5_000), { maxLength: 2 }),
      isFinal: fc.boolean(),
      refunded: maybe(anyCents(3_000)),
      isExpired: fc.boolean(),
      isTold: fc.boolean(),
    })
    .map(({ reversed, clearings, isFinal, refunded, isExpired, isTold }): Named => {
      const facts: [string, CardMessageContent][] = clearings.map((amountCents, n) => [
        `clearing ${n}`,
        {
          kind: 'clearing',
          clearingId: `${authorizationId} ${n}`,
          authorizationId,
          amountCents,
          final: isFinal && n === clearings.length - 1,
          merchant,
        },
      ])
      if (reversed !== undefined)
        facts.push(['reversal', { kind: 'reversal', authorizationId, amountCents: reversed }])
      if (isTold) {
        const asks = [{ amountCents: asked, approved: true }]
        facts.push(['outcome', { kind: 'outcome', authorizationId, asks, merchant }])
      }
      if (isExpired) facts.push(['expiry', { kind: 'expiry', authorizationId }])
      if (refunded !== undefined && clearings.length > 0) {
        const refundId = `${authorizationId} refund`
        facts.push(['refund', { kind: 'refund', refundId, authorizationId, amountCents: refunded, merchant }])
      }
      return Object.fromEntries(facts.map(([name, content]) => [`${authorizationId} ${name}`, content]))
    })

/** Some names occur more than once. */
const shuffled = (names: readonly string[]) =>
  fc
    .tuple(
      fc.shuffledSubarray([...names], { minLength: names.length }),
      fc.array(fc.constantFrom(...names), { maxLength: 3 }),
    )
    .map(([all, again]) => [...all, ...again])

interface History {
  readonly messages: Named
  readonly order: readonly string[]
  readonly intentEuros?: number
  readonly euros: number
}

/** Sends the messages in this order to a new owner's card, and returns the resulting state. */
async function standingAfter({ messages, order, intentEuros, euros }: History) {
  const { client } = await service.owner()
  const { agent, card } = await aPayingCard(client, euros)
  const intent = intentEuros && (await anIntent(client, agent.id, { amountEuros: intentEuros }))
  const replies: Record<string, unknown> = {}
  const written = Object.fromEntries(
    await Promise.all(
      Object.entries(messages).map(async ([name, content]) => [
        name,
        await network.messageOf(card.id, content),
      ]),
    ),
  )
  for (const name of order) {
    const { reply } = await network.deliver(written[name])
    replies[name] ??= reply
    expect(reply).toEqual(replies[name])
  }
  await expectVerifiedLedger(client)
  const payments = (await paymentsOf(card.id, client)).map(
    ({ status, source, approvedEuros, heldEuros, clearedEuros, refundedEuros, merchant: payee }) =>
      JSON.stringify({ status, source, approvedEuros, heldEuros, clearedEuros, refundedEuros, payee }),
  )
  const transactions = (await transactionsOf(card.id, client)).map(
    ({ type, status, amountEuros, refundedEuros }) =>
      JSON.stringify({ type, status, amountEuros, refundedEuros }),
  )
  return {
    balance: await balanceOf(agent.id, client),
    owed: await owed(client),
    uses: await usesOf([agent.id, card.id]),
    payments: payments.toSorted(),
    transactions: transactions.toSorted(),
    intent: intent && (await bodyOf(client.intents.get({ params: { id: intent.id } }))).status,
  }
}

/** Few runs: `fold.ts` covers ten thousand orders of the same messages without a database. */
const RUNS = { numRuns: 5, verbose: 1 as const }

describe('the messages of card payments, in any order and repeated', () => {
  test('end as in the natural order: one payment, without an intent and with one', async () => {
    const histories = fc
      .tuple(anyCents(5_000), fc.constantFrom(undefined, 50))
      .chain(([asked, intentEuros]) =>
        fc.tuple(fc.constant(asked), factsOf('a', asked), fc.constant(intentEuros)),
      )
      .chain(([asked, facts, intentEuros]) => {
        const messages: Named = { ask: request('a', 0, asked), ...facts }
        return fc.record({
          messages: fc.constant(messages),
          order: shuffled(Object.keys(messages)),
          intentEuros: fc.constant(intentEuros),
        })
      })
    await fc.assert(
      fc.asyncProperty(histories, async ({ messages, order, intentEuros }) => {
        const shared = { messages, euros: 500, ...(intentEuros ? { intentEuros } : {}) }
        const natural = await standingAfter({ ...shared, order: Object.keys(messages) })
        expect(await standingAfter({ ...shared, order })).toEqual(natural)
      }),
      RUNS,
    )
  })

  test('end as in the natural order: two payments of a wallet with too little for both', async () => {
    const histories = fc
      .tuple(anyCents(5_000), anyCents(5_000))
      .chain(([one, other]) =>
        fc.tuple(fc.constant(one), fc.constant(other), factsOf('a', one), factsOf('b', other)),
      )
      .chain(([one, other, factsOfOne, factsOfOther]) => {
        const asks: Named = { one: request('a', 0, one), other: request('b', 0, other) }
        const facts: Named = { ...factsOfOne, ...factsOfOther }
        return fc.record({
          messages: fc.constant<Named>({ ...asks, ...facts }),
          asks: fc.constant(Object.keys(asks)),
          order: Object.keys(facts).length === 0 ? fc.constant([]) : shuffled(Object.keys(facts)),
          euros: fc.constant(Number(addCents(one, other)) / 100),
        })
      })
    await fc.assert(
      fc.asyncProperty(histories, async ({ messages, asks, order, euros }) => {
        const natural = await standingAfter({ messages, euros, order: Object.keys(messages) })
        expect(await standingAfter({ messages, euros, order: [...asks, ...order] })).toEqual(natural)
      }),
      RUNS,
    )
  })
})
