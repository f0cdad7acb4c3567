import { bearer, post, type StageToFill } from '../stage.ts'
import type { Counter } from './counter.ts'

/** A payment from its request to its end, as a client of the API drives it. */
export interface Flow {
  readonly name: string
  readonly title: string
  run(): Promise<unknown>
}

const IBAN = 'DE89370400440532013000'

/** As many as an agent knows. */
const MERCHANTS = 1_000

const COMPLETED = "select status = 'completed' from transfers where id = $1"

type Caller = Pick<StageToFill, 'api' | 'token'>

const asking = (stage: Caller) => (path: string, body: object) => post(stage.api, path, body, bearer(stage))

/** The answer to the simulated network has the status 200 also where it declines. */
const asNetwork = (stage: Caller) => async (path: string, body: object, expected: 'approved' | 'noted') => {
  const answer = await asking(stage)(`/simulate/card/${path}`, body)
  if (answer.reply !== expected) throw new Error(`${path}: ${answer.reply}: ${answer.reason}`)
  return answer
}

/** Two wallets, an agent with a card, and a payee with an account. */
export async function openAccount(stage: Caller) {
  const ask = asking(stage)
  const { id: from = '' } = await ask('/wallets', { name: 'Payer' })
  const { id: to = '' } = await ask('/wallets', { name: 'Payee' })
  await ask(`/wallets/${from}/fund`, { amountEuros: 50_000 })
  const limits = { maxTransactionEuros: 50, autoApproveLimitEuros: 20 }
  const { id: policyId } = await ask('/policies', { name: 'Bench', ...limits })
  const { id: agentId = '', walletId = '' } = await ask('/agents', { name: 'Payer', policyId })
  await ask(`/agents/${agentId}/fund`, { amountEuros: 25_000, fromWalletId: from })
  const { id: cardId = '' } = await ask('/cards', { agentId, usage: 'multi' })
  const { id: beneficiaryId = '' } = await ask('/beneficiaries', { name: 'Adler GmbH', iban: IBAN })
  return { from, to, agentId, walletId, cardId, beneficiaryId }
}

export type Account = Awaited<ReturnType<typeof openAccount>>

/**
 * Seven payments. Each time another merchant, as no rule is to take them for one payment made twice. Without
 * `untilTrue` a SEPA transfer is only ordered.
 */
export function openFlows(stage: Caller, account: Account, untilTrue?: Counter['untilTrue']): Flow[] {
  const ask = asking(stage)
  const network = asNetwork(stage)
  const { from, to, agentId, walletId, cardId, beneficiaryId } = account
  let count = 0
  const next = () => ({ merchant: `Bookshop ${++count % MERCHANTS}`, purpose: 'A paper on caching' })
  const declare = (amountEuros: number) => ask('/intents', { agentId, amountEuros, ...next() })
  const transfer = (body: object) => ask('/transfers', { amountEuros: 1.5, ...body })

  const flow = (name: string, title: string, run: () => Promise<unknown>): Flow => ({ name, title, run })
  return [
    flow('approved', 'intent approved at once', () => declare(2.5)),
    flow('decided', 'intent approved by a person', async () => {
      const { id } = await declare(25)
      await ask(`/intents/${id}/approve`, {})
    }),
    flow('wallets', 'transfer between wallets', () => transfer({ fromWalletId: from, toWalletId: to })),
    flow('intentTransfer', 'intent and its transfer', async () => {
      const payee = { amountEuros: 1.5, walletId: to, purpose: 'A share' }
      const { id: intentId } = await ask('/intents', { agentId, ...payee })
      await transfer({ fromWalletId: walletId, toWalletId: to, intentId })
    }),
    flow('sepa', 'SEPA transfer to its end', async () => {
      const { id: transferId } = await transfer({
        fromWalletId: from,
        beneficiaryId,
        reference: `Invoice ${++count}`,
      })
      await untilTrue?.(COMPLETED, [transferId])
    }),
    flow('card', 'card: authorization and clearing', async () => {
      const payment = {
        cardId,
        amountEuros: 2.5,
        merchant: `BOOKSHOP ${++count % MERCHANTS}`,
        mcc: '5942',
        country: 'DE',
      }
      const { authorizationId } = await network('authorize', payment, 'approved')
      await network('clear', { authorizationId, amountEuros: 2.5 }, 'noted')
    }),
    flow('machine', 'machine payment with its intent', async () => {
      const host = new URL(stage.api.url).host
      const { id: intentId } = await ask('/intents', {
        agentId,
        amountEuros: 2.5,
        merchant: host,
        purpose: 'A report',
      })
      await ask('/v1/mpp/pay', { intentId, url: `${stage.api.url}/simulate/mpp/paid` })
    }),
  ]
}
