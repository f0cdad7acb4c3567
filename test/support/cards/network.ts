import { decodeCardReply } from '../../../src/adapters/card-processor/sandbox.ts'
import type {
  CardMerchant,
  CardMessage,
  CardMessageContent,
  CardReply,
} from '../../../src/ports/card-processor.ts'
import { clock } from '../../../src/values/clock.ts'
import { newId } from '../../../src/values/ids.ts'
import { roundCents } from '../../../src/values/money.ts'
import { aFundedAgent, aPolicy, bodyOf, type TestClient } from '../factories.ts'
import { ENCRYPTION_KEY, type TestService } from '../harness.ts'
import { sandboxWith } from './sandbox.ts'

export const bookshop: CardMerchant = {
  descriptor: 'SQ *BOOKSHOP 1234 BERLIN',
  mcc: '5942',
  city: null,
  country: 'DE',
  url: null,
  networkTokenId: null,
}

/** Rules under which no card payment of an agent needs a person. */
export const cardRules = { autoApproveLimitEuros: 1_000, amountTolerancePercent: 10 }

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly reply: CardReply
}

/** A card network that signs messages as the sandbox's processor does. */
export function networkBefore({ url, sql }: Pick<TestService, 'url' | 'sql'>) {
  const processor = sandboxWith(ENCRYPTION_KEY)
  async function processorIdOf(cardId: string): Promise<string> {
    const rows = await sql<{ id: string }>(
      'select processor_card_id as id from card_numbers where card_id = $1 order by id desc limit 1',
      [cardId],
    )
    return String(rows[0]?.id)
  }
  async function deliver(
    message: CardMessage,
    { at = url, headers: more = {} }: { at?: string | undefined; headers?: object } = {},
  ): Promise<Answered> {
    const { headers: own, body } = (processor.sign as NonNullable<typeof processor.sign>)(message)
    const headers = { ...own, ...more }
    const response = await fetch(`${at}/rails/card-processor`, { method: 'POST', headers, body })
    const text = await response.text()
    const { status } = response
    if (status !== 200) throw new Error(`${status} ${text}`)
    const reply = decodeCardReply({ status: 200, headers: {}, body: text })
    return { status, headers: response.headers, text, reply }
  }
  async function messageOf(
    cardId: string,
    content: CardMessageContent,
    id = newId('message'),
  ): Promise<CardMessage> {
    return { id, processorCardId: await processorIdOf(cardId), sentAt: clock.real(), content }
  }
  async function send(
    cardId: string,
    content: CardMessageContent,
    id?: string,
    at?: string,
  ): Promise<Answered> {
    return deliver(await messageOf(cardId, content, id), { at })
  }
  return {
    deliver,
    messageOf,
    send,
    async authorize(cardId: string, euros: number, merchant: Partial<CardMerchant> = {}, more: object = {}) {
      const authorizationId = newId('iauth')
      const answered = await send(cardId, {
        kind: 'authorization',
        authorizationId,
        ask: 0,
        amountCents: roundCents(euros * 100),
        partialAllowed: false,
        merchant: { ...bookshop, ...merchant },
        ...more,
      })
      return { ...answered, authorizationId }
    },
    clear: (cardId: string, authorizationId: string | null, euros: number, more: object = {}) =>
      send(cardId, {
        kind: 'clearing',
        clearingId: newId('clearing'),
        authorizationId,
        amountCents: roundCents(euros * 100),
        final: true,
        merchant: bookshop,
        ...more,
      }),
    reverse: (cardId: string, authorizationId: string, euros: number | null = null) =>
      send(cardId, {
        kind: 'reversal',
        authorizationId,
        amountCents: euros === null ? null : roundCents(euros * 100),
      }),
    refund: (cardId: string, authorizationId: string | null, euros: number) =>
      send(cardId, {
        kind: 'refund',
        refundId: newId('refund'),
        authorizationId,
        amountCents: roundCents(euros * 100),
        merchant: bookshop,
      }),
  }
}

export type Network = ReturnType<typeof networkBefore>

export async function aPayingCard(
  client: TestClient,
  euros: number,
  { rules = {}, card = {} }: { rules?: object; card?: object } = {},
) {
  const policy = await aPolicy(client, { ...cardRules, ...rules })
  const agent = await aFundedAgent(client, { policyId: policy.id }, euros)
  const body = { agentId: agent.id, usage: 'multi' as const, ...card }
  const issued = await bodyOf(client.cards.create({ body }))
  return { agent, card: issued }
}
