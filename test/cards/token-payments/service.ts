import type { ProcessorCallDone, ProcessorFailure } from '../../../src/ports/card-processor.ts'
import { areasWithPayments, merchantKey } from '../../support/cards/machine-payments.ts'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import { opened } from '../../support/cards/reveal.ts'
import { sandboxWith } from '../../support/cards/sandbox.ts'
import { anIntent, bodyOf, type TestClient } from '../../support/factories.ts'
import { ENCRYPTION_KEY, startTestService } from '../../support/harness.ts'

const sandbox = sandboxWith(ENCRYPTION_KEY)
let tokenFailure: ProcessorFailure | null = null

/** Makes the processor refuse all changes of network tokens. */
export const failTokens = (failure: ProcessorFailure | null): void => {
  tokenFailure = failure
}

const processor = {
  ...sandbox,
  setNetworkToken: async (...args: Parameters<NonNullable<typeof sandbox.setNetworkToken>>) =>
    tokenFailure ?? (sandbox.setNetworkToken?.(...args) as Promise<ProcessorCallDone>),
}

export const service = await startTestService({
  areas: areasWithPayments,
  outside: { cardProcessor: () => processor },
})
export const network = networkBefore(service)
export const owner = await service.owner()
export const { client } = owner

export const HOST = 'shop.example.com'

type Amounts = Parameters<typeof aPayingCard>[2] & { readonly euros?: number; readonly intent?: object }

export async function aPayer({ euros = 100, intent = {}, ...more }: Amounts = {}, by: TestClient = client) {
  const { agent, card } = await aPayingCard(by, euros, more)
  const declared = await anIntent(by, agent.id, { merchant: HOST, amountEuros: 20, ...intent })
  return { agent, card, intent: declared }
}

type Payer = Awaited<ReturnType<typeof aPayer>>

export async function begun(
  { card, intent }: Pick<Payer, 'card' | 'intent'>,
  amountEuros = 20,
  by: typeof client = client,
) {
  const body = { intentId: intent.id, cardId: card.id, amountEuros, host: HOST }
  const answer = await bodyOf(by.machinePayments.begin({ body }))
  const token = { networkTokenId: answer.tokenId, descriptor: 'PAYMENTS*4711', url: null }
  const { mppCredentialId } = answer
  return {
    ...answer,
    settle: async (outcome: 'paid' | 'not_paid') =>
      (await bodyOf(by.machinePayments.settle({ params: { id: mppCredentialId }, body: { outcome } })))
        .transactionId,
    authorize: (euros = amountEuros, more: object = {}) => network.authorize(card.id, euros, token, more),
    clear: (authorizationId: string | null, euros = amountEuros, more: object = {}) =>
      network.clear(card.id, authorizationId, euros, {
        merchant: { mcc: null, city: null, country: null, ...token },
        ...more,
      }),
    payments: () => paymentsOf(card.id, by),
    plain: () => opened(answer.jwe, merchantKey),
  }
}

export const paymentsOf = async (cardId: string, by: TestClient = client) =>
  (await bodyOf(by.authorizations.list({ params: { id: cardId }, query: {} }))).data

export const transactionsOf = async (cardId: string, by: TestClient = client) =>
  (await bodyOf(by.transactions.list({ query: { cardId } }))).data

export const intentOf = (id: string, by: TestClient = client) => bodyOf(by.intents.get({ params: { id } }))

export const balanceOf = async (agentId: string, by: TestClient = client): Promise<[number, number]> => {
  const { availableEuros, heldEuros } = await bodyOf(by.agents.balance({ params: { id: agentId } }))
  return [availableEuros, heldEuros]
}

export const tokensOf = async (cardId: string, by: TestClient = client) =>
  (await bodyOf(by.agentCredentials.list({ query: { cardId } }))).data

export const usesOf = (subjects: readonly string[]) =>
  service.sql<{ reserved: number; spent: number; open: number; made: number }>(
    `select reserved_cents::int as reserved, spent_cents::int as spent, reserved_uses as open, uses as made
     from counters where subject = any($1) and period = 'all' order by array_position($1, subject)`,
    [subjects],
  )

export const newsOf = (mppCredentialId: string) =>
  service.sql<{ event: string; data: Record<string, unknown> }>(
    `select event, data from events where event in ('agent_credential.charged', 'agent_credential.declined')
     and data->>'mppCredentialId' = $1 order by id`,
    [mppCredentialId],
  )
