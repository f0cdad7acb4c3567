import type { z } from 'zod'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { requireFirst } from '../../values/collections.ts'
import { type Cents, NO_CENTS } from '../../values/money.ts'
import { truncateText } from '../../values/schemas.ts'
import { type BudgetCounters, readCounters } from '../budgets/index.ts'
import { remainingLimit } from '../rules/index.ts'
import type { MandateCounters } from './constraints.ts'
import { isMandateOpen, Mandate, mandateConstraints } from './mandate.ts'
import { mandateCounters } from './open-mandates.ts'
import type { MandateEvent } from './schemas.ts'

interface Use extends MandateCounters {
  readonly heldCents: Cents
  readonly spentCents: Cents
}

const UNUSED: Use = {
  heldCents: NO_CENTS,
  spentCents: NO_CENTS,
  dayCents: NO_CENTS,
  monthCents: NO_CENTS,
  totalCents: NO_CENTS,
  uses: 0,
}

function useOf({ id }: Mandate, counters: BudgetCounters): Use {
  const { reservedCents: heldCents, spentCents } = counters.madeUses(id)
  return { heldCents, spentCents, ...mandateCounters(id, counters) }
}

function leftOf(mandate: Mandate, used: Use, now: Date) {
  const isOver = !isMandateOpen(mandate, now)
  const left = (limit: Cents | null, used: Cents): Cents | null =>
    limit === null ? null : isOver ? NO_CENTS : remainingLimit({ limit, used })
  const { perDayCents, perMonthCents, totalCents, count } = mandate
  return {
    dayLeftCents: left(perDayCents, used.dayCents),
    monthLeftCents: left(perMonthCents, used.monthCents),
    totalLeftCents: left(totalCents, used.totalCents),
    countLeft: count === null ? null : isOver ? 0 : Math.max(count - used.uses, 0),
  }
}

function responseWith(mandate: Mandate, use: Use, now: Date) {
  const { heldCents, spentCents } = use
  const { personId, passkeyId } = mandate
  return withMembers(mandate, {
    constraints: mandateConstraints(mandate),
    heldCents,
    spentCents,
    ...leftOf(mandate, use, now),
    signedBy: { personId, passkeyId },
  })
}

export const unusedMandateResponse = (mandate: Mandate, { now }: Pick<TenantNow, 'now'>) =>
  responseWith(mandate, UNUSED, now)

export async function mandateResponses(mandates: readonly Mandate[], { sql, tenant, now }: ReadContext) {
  const ids = mandates.map(({ id }) => id)
  const counters = await readCounters(sql, { tenant, now }, ids)
  return mandates.map(mandate => responseWith(mandate, useOf(mandate, counters), now))
}

export async function findMandates(ids: readonly string[], context: ReadContext) {
  if (ids.length === 0) return new Map<string, never>()
  const { em, sql, tenant, now } = context
  const [mandates, counters] = await Promise.all([
    em.find(Mandate, { id: { $in: [...ids] } }),
    readCounters(sql, { tenant, now }, ids),
  ])
  return new Map(mandates.map(mandate => [mandate.id, responseWith(mandate, useOf(mandate, counters), now)]))
}

export async function mandateResponse(mandate: Mandate, context: ReadContext) {
  return requireFirst(await mandateResponses([mandate], context))
}

type EventMembers = Pick<Mandate, 'id' | 'agentId' | 'personId' | 'status' | 'expiresAt' | 'suspendedBecause'>

export const mandateEvent = (
  { id, agentId, personId, status, expiresAt, suspendedBecause }: EventMembers,
  reason: string | null = null,
): z.output<typeof MandateEvent> => ({
  mandateId: id,
  agentId,
  personId,
  status,
  expiresAt,
  suspendedBecause,
  ...(reason ? { reason: truncateText(reason) } : {}),
})
