import {
  type DeclareIntentRequest,
  type DeclareIntentState,
  declareIntent,
  type declareIntentRefusals,
} from '../../../control/intents/index.ts'
import { readHolderNames } from '../../../identity/customers/index.ts'
import type { Mode } from '../../../kernel/contract/actor.ts'
import { isNonEmpty } from '../../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import { Refusal } from '../../../kernel/contract/problem.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { hashAndHint, newSecret } from '../../../kernel/database/credential.ts'
import { findPayableWallets, isPurse, type PayableWallet } from '../../../money/wallets/index.ts'
import { newId } from '../../../values/ids.ts'
import { paymentTokenEvent, type paymentTokensApi } from './api.ts'
import { insertPaymentTokens, type PaymentTokenRow } from './payment-token.ts'

type Handler = HandlerOf<typeof paymentTokensApi.create, State>
type Request = Parameters<Handler['decide']>[0]
type Verdict = Parameters<Handler['decide']>[2]

interface Recipient extends PayableWallet {
  readonly name: string
}

interface State {
  readonly recipients: ReadonlyMap<string, Recipient>
  readonly requests: ReadonlyMap<Request, DeclareIntentRequest>
  readonly batch: DeclareIntentState
  readonly made: PaymentTokenRow[]
}

async function findRecipients(
  sql: Sql,
  mode: Mode,
  walletIds: readonly string[],
): Promise<ReadonlyMap<string, Recipient>> {
  const wallets = await findPayableWallets(sql, { mode }, { ids: [...new Set(walletIds)] })
  const names = await readHolderNames(
    sql,
    wallets.map(({ ownerId }) => ownerId),
  )
  return new Map(wallets.map(wallet => [wallet.id, { ...wallet, name: names.get(wallet.ownerId) ?? '' }]))
}

const APPROVAL_MINUTES = 1_440

function declareRequest(request: Request, recipient: Recipient | undefined): DeclareIntentRequest {
  const { agentId, amountCents, purpose, runId } = request.input.body
  const paymentToken = {
    id: newId('paymenttoken'),
    name: recipient?.name ?? '',
    iban: recipient?.iban ?? null,
  }
  const unset = { mcc: null, country: null, beneficiaryId: null, walletId: null, requestId: null }
  const unnamed = { cardId: null, clientIntentId: null, metadata: {} }
  const expiresInMinutes = APPROVAL_MINUTES
  const members = { agentId, amountCents, purpose, runId, expiresInMinutes, paymentToken }
  return { ...request, input: { params: {}, query: {}, body: { ...members, ...unset, ...unnamed } } }
}

/** Does not reveal the status of another owner's wallet. */
function walletRefusal(
  { input, tenant, actor }: Request,
  { recipients, batch }: State,
): 'wallet_not_found' | 'wallet_closed' | 'wallet_of_card' | 'same_wallet' | undefined {
  const { recipientWalletId, agentId } = input.body
  const recipient = recipients.get(recipientWalletId)
  if (!recipient) return 'wallet_not_found'
  const isOwn = recipient.ownerId === tenant.ownerId
  if (isPurse(recipient)) return isOwn ? 'wallet_of_card' : 'wallet_not_found'
  if (recipient.status === 'closed') return isOwn ? 'wallet_closed' : 'wallet_not_found'
  const payer = batch.agents.get(agentId ?? actor.agentId ?? '')
  return payer?.walletId === recipientWalletId ? 'same_wallet' : undefined
}

/** The declaration names no other payee, so its refusals are among those that this operation declares. */
const declareVerdict = (verdict: Verdict): Parameters<typeof declareIntent.decide>[2] => ({
  ...verdict,
  refuse: (code, message) => verdict.refuse(code as keyof typeof declareIntentRefusals, message),
})

/** Runs in group commits. Each token is created with the intent that decides about it. */
export const createPaymentToken = {
  async load(requests, sql, ports): Promise<State> {
    const walletIds = requests.map(({ input }) => input.body.recipientWalletId)
    const recipients = await findRecipients(sql, requests[0].tenant.mode, walletIds)
    const declared = new Map(
      requests.map(request => [
        request,
        declareRequest(request, recipients.get(request.input.body.recipientWalletId)),
      ]),
    )
    const declarations = [...declared.values()]
    if (!isNonEmpty(declarations)) throw new Error('a batch without requests')
    const batch = await declareIntent.load(declarations, sql, ports)
    return { recipients, requests: declared, batch, made: [] }
  },

  decide(request, state, verdict) {
    const { recipients, requests, batch, made } = state
    const refusal = walletRefusal(request, state)
    if (refusal) return verdict.refuse(refusal)
    const declaration = requests.get(request)
    const recipient = recipients.get(request.input.body.recipientWalletId)
    if (!declaration || !recipient) throw new Error('a request that was not loaded')
    const intent = declareIntent.decide(declaration, batch, declareVerdict(verdict))
    if (intent instanceof Refusal) return intent
    if (intent.status === 'denied') return verdict.refuse('against_policy', intent.decision.reason)
    const secret = newSecret('pt_')
    const token: PaymentTokenRow = {
      ...request.tenant,
      id: String(intent.paymentTokenId),
      createdAt: request.now,
      updatedAt: request.now,
      agentId: intent.agentId,
      delegationId: intent.delegationId,
      intentId: intent.id,
      amountCents: intent.amountCents,
      recipientWalletId: recipient.id,
      recipientOwnerId: recipient.ownerId,
      recipientName: recipient.name,
      status: intent.status === 'approved' ? 'active' : 'waiting',
      ...hashAndHint(secret),
      expiresAt: intent.expiresAt,
      chargeId: null,
      chargedCents: null,
      chargedAt: null,
      transactionId: null,
    }
    made.push(token)
    verdict.emit('claim.payment_token.created', paymentTokenEvent(token))
    return { ...token, token: secret }
  },

  async write(state, sql) {
    const { batch, made } = state
    await Promise.all([declareIntent.write(batch, sql), insertPaymentTokens(sql, made)])
  },
} satisfies Handler
