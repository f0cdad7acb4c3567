import type { Row, Sql } from '../../kernel/database.ts'
import type { HandlerOf } from '../../kernel/operation.ts'
import { selectList } from '../../kernel/rows.ts'
import { type Book, openBook, shortOf } from '../../money/ledger/ledger.ts'
import type { intentsApi } from './api.ts'
import { aboutIntent } from './events.ts'
import { type DecidedBy, heldFor, holdFor, intentMachine } from './intent.ts'
import { type IntentRow, intentTable, updateIntents } from './intent-rows.ts'
import { intentProcess } from './process.ts'

type Approve = HandlerOf<typeof intentsApi.approve>
type Expire = HandlerOf<typeof intentsApi.expire>
type Asked = Parameters<Approve['decide']>[0] | Parameters<Expire['decide']>[0]

interface Known extends Row {
  agentStatus: string
  requireAttestation: boolean
  agentWalletId: string
  amountTolerancePercent: number | null
}

interface Desk {
  readonly intents: ReadonlyMap<string, IntentRow & Known>
  readonly book: Book
  readonly changed: Set<IntentRow>
}

const AGENTS = `
select a.wallet_id as "walletId" from agents a
where (a.owner_id, a.mode) = ($1, $2) and a.id = any(array(select agent_id from intents where id = any($3::text[])))
order by a.id for share of a`

/** By their ids and those of the tenant's agents: of a young table PostgreSQL would rather read all that the tenant has. */
const INTENTS = `
select ${selectList(intentTable, 'i')}, a.status as "agentStatus",
  coalesce(p.require_attestation, false) as "requireAttestation", a.wallet_id as "agentWalletId",
  p.amount_tolerance_percent as "amountTolerancePercent"
from intents i
join agents a on a.id = i.agent_id and (a.owner_id, a.mode) = ($1, $2)
left join policies p on p.id = a.policy_id and p.deleted_at is null
where i.id = any($3::text[])
order by i.id for update of i`

/** Agents before their accounts, and these before the records, as everywhere. */
async function load(items: readonly Asked[], sql: Sql): Promise<Desk> {
  const { tenant, now } = items[0] as Asked
  const ids = [...new Set(items.map(({ input }) => input.params.id))]
  const names = [tenant.ownerId, tenant.mode, ids]
  const agents = await sql<{ walletId: string }>(AGENTS, names)
  const wallets = agents.map(({ walletId }) => walletId)
  const book = await openBook(sql, { tenant, now }, { wallets, holds: ids.map(id => heldFor({ id })) })
  const intents = await sql<IntentRow & Known>(INTENTS, names)
  return { intents: new Map(intents.map(intent => [intent.id, intent])), book, changed: new Set() }
}

async function write({ book, changed }: Desk, sql: Sql): Promise<void> {
  await updateIntents(sql, [...changed])
  await book.post(sql)
}

/** A person approves, by the API or by a signal to the run: the first one counts. */
export const approve: Approve = {
  load,
  decide({ input, actor, now }, { intents, book, changed }: Desk, { emit, refuse, wake }) {
    const intent = intents.get(input.params.id)
    if (!intent) return refuse('intent_not_found')
    if (intent.status !== 'created') return refuse('intent_not_waiting', alreadyIn(intent.status))
    if (intent.expiresAt <= now) return refuse('intent_expired')
    if (intent.agentStatus !== 'active') return refuse('agent_not_active')
    if (intent.requireAttestation) return refuse('attestation_required')
    const needed = holdFor(intent.amountEuros, intent.amountTolerancePercent)
    if (!book.canPay(intent.agentWalletId, needed))
      return refuse('insufficient_funds', shortOf(needed, book.available(intent.agentWalletId)))
    intentMachine.move(intent, 'approved')
    book.hold(intent.agentWalletId, needed, heldFor(intent))
    const { comment } = input.body
    Object.assign(intent, { decidedAt: now, updatedAt: now, decidedBy: deciderOf(actor), comment })
    changed.add(intent)
    emit('intent.approved', aboutIntent(intent, comment ?? undefined))
    wake(intentProcess, intent)
    return intent
  },
  write,
}

/** Only past the deadline, by the tenant's clock; who comes second finds nothing to do. */
export const expire: Expire = {
  load,
  decide({ input, now }, { intents, book, changed }: Desk, { emit, refuse, wake }) {
    const intent = intents.get(input.params.id)
    if (!intent) return refuse('intent_not_found')
    if (intent.expiresAt > now || !intentMachine.move(intent, 'expired')) return { expired: false }
    intent.updatedAt = now
    changed.add(intent)
    book.release(heldFor(intent))
    emit('intent.expired', aboutIntent(intent))
    if (intent.workflowId) wake(intentProcess, intent)
    return { expired: true }
  },
  write,
}

export const alreadyIn = (status: string): string => `The intent is ${status} already.`

interface Decider {
  readonly type: string
  readonly id: string | null
}

/** An operator has no id of ours: only the name that was given with the signal, proved by nothing. */
export const deciderOf = ({ type, id }: Decider): DecidedBy =>
  type === 'operator' ? { type, id: null, name: id } : { type: 'key', id, name: null }
