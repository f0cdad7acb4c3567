import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { reaches } from '../../kernel/database/entity.ts'
import type { Euros } from '../../values/money.ts'
import { type BatchState, pay, type TransferRequest } from '../transfers/index.ts'
import type { checkoutApi } from './api.ts'

type Handler = HandlerOf<typeof checkoutApi.execute>
type Request = Parameters<Handler['load']>[0][number]

/** What is paid by an intent, which never changes. */
interface Payable extends Row {
  readonly id: string
  readonly agentId: string
  readonly delegationId: string | null
  readonly amountEuros: Euros
  readonly fromWalletId: string
  readonly toWalletId: string | null
}

const PAYABLE = `
select i.id, i.agent_id as "agentId", i.delegation_id as "delegationId", i.amount_cents as "amountEuros",
  a.wallet_id as "fromWalletId", i.wallet_id as "toWalletId"
from unnest($3::text[]) as w (id)
cross join lateral (select * from intents one where (one.owner_id, one.mode, one.id) = ($1, $2, w.id) limit 1) i
cross join lateral (select * from agents one where (one.owner_id, one.mode, one.id) = ($1, $2, i.agent_id) limit 1) a`

async function payableIntents(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Payable>> {
  const rows = await sql<Payable>(PAYABLE, [ownerId, mode, [...new Set(ids)]])
  return new Map(rows.map(row => [row.id, row]))
}

/** The request as `POST /transfers` would have it. */
function transferRequest(request: Request, intent: Payable | undefined): TransferRequest | undefined {
  if (!intent || intent.toWalletId === null) return undefined
  const { fromWalletId, toWalletId, amountEuros } = intent
  const body = { fromWalletId, toWalletId, amountEuros, reference: null, intentId: intent.id }
  return { ...request, input: { params: {}, query: {}, body } }
}

interface State {
  readonly intents: ReadonlyMap<string, Payable>
  readonly requests: ReadonlyMap<Request, TransferRequest>
  readonly batch: BatchState | undefined
}

/** Pays through the transfers, in the same group commits and with the same checks. */
export const execute: Handler = {
  async load(items, sql, ports): Promise<State> {
    const { tenant } = items[0] as Request
    const intents = await payableIntents(
      sql,
      tenant,
      items.map(({ input }) => input.body.intentId),
    )
    const requests = new Map(
      items.flatMap(item => {
        const request = transferRequest(item, intents.get(item.input.body.intentId))
        return request ? [[item, request] as const] : []
      }),
    )
    const batch = requests.size > 0 ? await pay.load([...requests.values()], sql, ports) : undefined
    return { intents, requests, batch: batch as BatchState | undefined }
  },

  decide(item, state, verdict) {
    const { intents, requests, batch } = state as State
    const intent = intents.get(item.input.body.intentId)
    if (!intent || !reaches(item.actor, intent)) return verdict.refuse('intent_not_found')
    const request = requests.get(item)
    if (!request || !batch) return verdict.refuse('intent_not_by_wallet')
    const transfer = pay.decide(request, batch, verdict)
    if (transfer instanceof Refusal) return transfer
    const { id: transferId, transactionId } = transfer
    if (transactionId === null) throw new Error('a transfer between wallets without a transaction')
    return { status: 'completed', intentId: intent.id, transactionId, transferId }
  },

  async write(state, sql) {
    const { batch } = state as State
    if (batch) await pay.write(batch, sql)
  },
}
