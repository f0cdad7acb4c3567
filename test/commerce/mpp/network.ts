import { credentialsOn, type Payer } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { service } from './service.ts'

async function tokenOf({ card }: Payer): Promise<string> {
  const [row] = await service.sql<{ id: string }>(
    'select token_id as id from agent_credentials where card_id = $1',
    [card.id],
  )
  return String(row?.id)
}

const merchantOf = async (payer: Payer) => ({
  merchant: 'LOOPBACK*SHOP 4021',
  networkTokenId: await tokenOf(payer),
})

export const authorize = async (payer: Payer, amountEuros = 20, members: object = {}) =>
  bodyOf(
    payer.client.sandbox.authorizeCard({
      body: { cardId: payer.card.id, amountEuros, ...(await merchantOf(payer)), ...members },
    }),
  )

/** The clearing of the network, with or without an authorization before. */
export const clear = async (payer: Payer, authorizationId: string | null, amountEuros = 20) =>
  bodyOf(
    payer.client.sandbox.clearCard({
      body: {
        authorizationId: String(authorizationId),
        amountEuros,
        cardId: payer.card.id,
        ...(await merchantOf(payer)),
      },
    }),
  )

export const end = (
  { client, card }: Payer,
  authorizationId: string | null,
  how: 'voidCard' | 'expireCard',
) => bodyOf(client.sandbox[how]({ body: { authorizationId: String(authorizationId), cardId: card.id } }))

export const credentialOf = async ({ client, intent }: Payer) => (await credentialsOn(client, intent.id))[0]

export const transactionsOf = async ({ client, intent }: Payer) =>
  (await bodyOf(client.transactions.list({ query: { intentId: intent.id } }))).data

export type Word = 'authorization' | 'reversal' | 'expiry' | 'clearing'

export const AUTHORIZATION = 'the-one'

export const words: Record<Word, (payer: Payer) => Promise<unknown>> = {
  authorization: payer => authorize(payer, 20, { authorizationId: AUTHORIZATION }),
  reversal: payer => end(payer, AUTHORIZATION, 'voidCard'),
  expiry: payer => end(payer, AUTHORIZATION, 'expireCard'),
  clearing: payer => clear(payer, AUTHORIZATION),
}

export const says = async (payer: Payer, order: readonly Word[]): Promise<void> => {
  for (const word of order) await words[word](payer)
}
