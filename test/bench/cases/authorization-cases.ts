import { encodeCardMessage } from '../../../src/adapters/card-processor/sandbox-wire.ts'
import type { CardMessage, CardMessageContent } from '../../../src/ports/card-processor.ts'
import { clock } from '../../../src/values/clock.ts'
import { cents } from '../../../src/values/money.ts'
import type { Case, Request } from '../case.ts'
import { authorizeInSql } from '../database/authorization-sql.ts'
import {
  addCovered,
  CARD_CENTS,
  CARDS,
  type Cover,
  nextPayments,
  processorIdOf,
} from '../database/card-rows.ts'
import type { Numbered } from '../database/intent-rows.ts'
import { usualOrShort } from '../short.ts'
import { ENCRYPTION_KEY, type Stage } from '../stage.ts'

/** More payments than one measurement needs. */
const PAYMENTS = usualOrShort(12_000, 2_500)

export const APPROVED = '"kind":"approved"'
export const NOTED = '"kind":"noted"'

/** The merchant's name: `covered` by the payment's intent, or one that any payment may name. */
const merchants: Readonly<Record<Cover, string>> = { covered: 'Bookshop {n}', uncovered: 'Bookshop' }

const merchantOf = (cover: Cover) => ({
  descriptor: merchants[cover],
  mcc: '5942',
  city: null,
  country: 'DE',
  url: null,
  networkTokenId: null,
})

export function doorRequest(
  content: CardMessageContent,
  payments: Numbered,
  agents: number,
  expects?: string,
): Request {
  const message: CardMessage = {
    id: `${content.kind}-{n}`,
    processorCardId: '{card}',
    sentAt: clock.real(),
    content,
  }
  const cards = Array.from({ length: agents }, (_, n) => processorIdOf(1 + n))
  const messages = { encryptionKey: ENCRYPTION_KEY, body: encodeCardMessage(message), cards, ...payments }
  return {
    method: 'POST',
    path: '/rails/card-processor',
    token: '',
    messages,
    ...(expects ? { expects } : {}),
  }
}

export const asking = (cover: Cover): CardMessageContent => ({
  kind: 'authorization',
  authorizationId: 'iauth-{n}',
  ask: 0,
  amountCents: cents(CARD_CENTS),
  partialAllowed: false,
  merchant: merchantOf(cover),
})

export const clearing: CardMessageContent = {
  kind: 'clearing',
  clearingId: 'clearing-{n}',
  authorizationId: 'iauth-{n}',
  amountCents: cents(CARD_CENTS),
  final: true,
  merchant: merchantOf('uncovered'),
}

/** Payments for the next measurement, with an intent each if they are covered. */
export const somePayments = async (
  stage: Stage,
  cover: Cover,
  agents: number,
  count = PAYMENTS,
): Promise<Numbered> => (cover === 'covered' ? addCovered(stage, count, agents) : nextPayments(count))

interface Wanted {
  readonly name: string
  readonly title: string
  readonly cover: Cover
  readonly agents: number
}

const wanted: readonly Wanted[] = [
  { name: 'payments', title: `authorizations, ${CARDS} agents`, cover: 'uncovered', agents: CARDS },
  { name: 'payment', title: 'authorizations, one hot agent', cover: 'uncovered', agents: 1 },
  {
    name: 'intentPayments',
    title: `authorizations on intents, ${CARDS} agents`,
    cover: 'covered',
    agents: CARDS,
  },
  { name: 'intentPayment', title: 'authorizations on intents, one hot agent', cover: 'covered', agents: 1 },
]

export const authorizationCases = (stage: Stage): Case[] =>
  wanted.map(({ name, title, cover, agents }) => ({
    name,
    title,
    server: stage.api,
    variants: ['statements'],
    request: async () =>
      doorRequest(asking(cover), await somePayments(stage, cover, agents), agents, APPROVED),
    sqlEquivalent: async () => authorizeInSql(cover, agents, (await somePayments(stage, cover, agents)).from),
  }))
