import { credentialsOn, type Payer } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { service } from './service.ts'

/** The network token of a payment, by which the network speaks of it. */
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

/** The network asks whether the payment is authorized, as the merchant’s bank does. */
export const authorize = async (payer: Payer, amountEuros = 20, members: object = {}) =>
  bodyOf(
    payer.client.sandbox.authorizeCard({
      body: { cardId: payer.card.id, amountEuros, ...(await merchantOf(payer)), ...members },
    }),
  )

/** The network has moved the money, also where it has told of no authorization. */
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

/** The merchant gives the authorization back, or lets it run out. */
export const end = (
  { client, card }: Payer,
  authorizationId: string | null,
  how: 'voidCard' | 'expireCard',
) => bodyOf(client.sandbox[how]({ body: { authorizationId: String(authorizationId), cardId: card.id } }))

export const credentialOf = async ({ client, intent }: Payer) => (await credentialsOn(client, intent.id))[0]

export const transactionsOf = async ({ client, intent }: Payer) =>
  (await bodyOf(client.transactions.list({ query: { intentId: intent.id } }))).data

export type Word = 'authorization' | 'reversal' | 'expiry' | 'clearing'

/** The network’s name of the authorization that `says` is about. */
export const AUTHORIZATION = 'the-one'

export const words: Record<Word, (payer: Payer) => Promise<unknown>> = {
  authorization: payer => authorize(payer, 20, { authorizationId: AUTHORIZATION }),
  reversal: payer => end(payer, AUTHORIZATION, 'voidCard'),
  expiry: payer => end(payer, AUTHORIZATION, 'expireCard'),
  clearing: payer => clear(payer, AUTHORIZATION),
}

/** Lets the network say this of a payment, in this order. */
export const says = async (payer: Payer, order: readonly Word[]): Promise<void> => {
  for (const word of order) await words[word](payer)
}
