import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  centsColumn,
  nullable,
  recordColumns,
  tenantTable,
  textArrayColumn,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { personal, plain, secret } from '../../kernel/database/personal.ts'
import { minutes } from '../../values/clock.ts'
import { type Cents, formatMoney } from '../../values/money.ts'
import { isSameMerchant } from '../merchants/index.ts'

/** `issued`: the code has been created. `redeemed`: the code was exchanged for its token. */
export const delegationMachine = stateMachine('delegation', {
  issued: ['redeemed', 'revoked', 'expired'],
  redeemed: ['revoked', 'expired'],
  revoked: [],
  expired: [],
})

const schema = defineEntity({
  ...tenantTable('Delegation', 'delegations', 'agentId', 'id'),
  properties: {
    ...recordColumns('delegation'),
    agentId: p.text(),
    parentDelegationId: plain(nullable.string()),
    /** The delegations above this one, topmost first. Their caps count, too. */
    ancestors: plain(textArrayColumn()),
    label: personal(nullable.string(), 'words', 'contract', 'word'),
    merchant: personal(nullable.string(), 'payment', 'contract', 'word'),
    maxAmountCents: centsColumn('max_amount_cents'),
    scopes: plain(p.array().columnType('text[]').$type<Scope[]>()),
    status: p.enum(delegationMachine.states).onCreate(() => delegationMachine.initial),
    codeHash: secret(p.text()),
    hint: plain(p.text()),
    codeExpiresAt: timestampColumn(),
    expiresAt: timestampColumn(),
    redeemedAt: nullable.instant(),
    tokenId: nullable.string(),
    revokedAt: nullable.instant(),
    /** Who made it, in the console or with a key of their own. */
    personId: nullable.string(),
  },
})

export class Delegation extends schema.class {}
schema.setClass(Delegation)

/** Repeats the condition of the partial indexes over open delegations exactly. */
export const OPEN_DELEGATION_SQL = "status in ('issued', 'redeemed')"

export const MAX_DELEGATION_DEPTH = 8

export const isDelegationOpen = ({ status, expiresAt }: Delegation, now: Date): boolean =>
  !delegationMachine.isFinal(status) && expiresAt > now

type Parent = Delegation & { readonly remainingCents: Cents }

interface DelegationRequest {
  readonly agentId: string
  readonly maxAmountCents: Cents
  readonly merchant: string | null
  readonly expiresAt: Date
}

export function delegationBlocker(request: DelegationRequest, parent: Parent, now: Date) {
  if (!isDelegationOpen(parent, now)) return 'parent_over'
  if (parent.ancestors.length >= MAX_DELEGATION_DEPTH) return 'parent_too_deep'
  if (request.agentId !== parent.agentId) return 'parent_of_other_agent'
  if (request.maxAmountCents > parent.remainingCents) return 'wider_amount'
  if (request.expiresAt > parent.expiresAt) return 'wider_time'
  const isOther = parent.merchant && request.merchant && !isSameMerchant(parent.merchant, request.merchant)
  return isOther ? 'wider_merchant' : undefined
}

export const delegationBoundsText = (
  { remainingCents, expiresAt, merchant }: Parent,
  now: Date,
): Readonly<Record<string, string>> => ({
  wider_amount: `maxAmountEuros: the parent has only ${formatMoney(remainingCents)} left. Choose a smaller amount.`,
  wider_time: `expiresInMinutes: the parent expires in ${Math.floor((expiresAt.getTime() - now.getTime()) / minutes(1))} minutes. Choose fewer minutes.`,
  wider_merchant: `merchant: the parent can pay only ${merchant}. Name it, or leave merchant out.`,
})

export type DelegationLimit = Pick<
  Delegation,
  'id' | 'ancestors' | 'label' | 'merchant' | 'status' | 'maxAmountCents' | 'expiresAt'
>

const LIMITS = `
select id, ancestors, label, merchant, status, max_amount_cents as "maxAmountCents", expires_at as "expiresAt"
from delegations
where owner_id = $1 and mode = $2
  and id = any(array(
    select unnest(ancestors || id) from delegations where owner_id = $1 and mode = $2 and id = any($3::text[])))`

/**
 * Returns each delegation after its ancestors, the topmost first. The caller has locked their agents, so they
 * do not change until the transaction ends.
 */
export async function delegationLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<(id: string) => readonly DelegationLimit[]> {
  const limits = ids.length === 0 ? [] : await sql<DelegationLimit & Row>(LIMITS, [ownerId, mode, ids])
  const limitById = new Map(limits.map(limit => [limit.id, limit]))
  return id => {
    const ancestors = limitById.get(id)?.ancestors ?? []
    return [...ancestors, id].flatMap(ancestorOrSelf => limitById.get(ancestorOrSelf) ?? [])
  }
}
