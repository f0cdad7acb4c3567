import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context, ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { DONE, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { clock } from '../../values/clock.ts'
import { formatMinute } from '../../values/minute.ts'
import { Person } from '../customers/index.ts'
import type { recoveryApi, recoverySteps } from './api.ts'
import type { RecoverySignal } from './process.ts'
import {
  endRecovery,
  findOpenRecovery,
  markRecoveryReady,
  recoveryStopper,
  startRecovery,
} from './recoveries.ts'
import { isRecoveryOpen, Recovery } from './recovery.ts'
import { personResponse } from './response.ts'

const TENANT_OF_PERSON = `
select p.owner_id as "ownerId", p.mode, coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from people p left join tenant_clocks t on t.owner_id = p.owner_id and t.mode = p.mode
where p.id = $1`

/**
 * Switches an operator to the tenant of a person, since the operator does not name the owner. False if the id
 * is unknown.
 */
export async function actForTenantOfPerson(
  personId: string,
  { sql, switchTenant }: Context,
): Promise<boolean> {
  const [found] = await sql<Tenant & Row & { offsetMs: number }>(TENANT_OF_PERSON, [personId])
  if (!found) return false
  switchTenant({ ownerId: found.ownerId, mode: found.mode }, clock.tenant(found.offsetMs))
  return true
}

/** Locks the tenant's people, then this person, if named. Null if the person no longer exists. */
export async function lockPerson(id: string | null, context: WriteContext): Promise<Person | null> {
  const [, person] = await Promise.all([
    lockTenant(context, 'people'),
    id === null ? null : context.em.findOne(Person, { id }, FOR_UPDATE),
  ])
  return person?.status === 'removed' ? null : person
}

export const startPersonRecovery: HandlerOf<typeof recoveryApi.recover> = async ({ params }, context) => {
  const { refuse } = context
  if (!(await actForTenantOfPerson(params.id, context))) return refuse('person_not_found')
  const person = await lockPerson(params.id, context)
  if (!person) return refuse('person_not_found')
  if (await findOpenRecovery(person.id, context)) return refuse('recovery_under_way')
  return personResponse(person, startRecovery(person, context))
}

export const stopRecovery: HandlerOf<typeof recoveryApi.stopRecovery> = async ({ params }, context) => {
  const { actor, refuse } = context
  const person = await lockPerson(params.id, context)
  if (!person) return refuse('person_not_found')
  const recovery = await findOpenRecovery(person.id, context)
  if (!recovery) return refuse('recovery_not_found')
  await endRecovery(recovery, person, { reason: 'stopped', by: recoveryStopper(actor) }, context)
  return personResponse(person, null)
}

async function lockRecovery(id: string, context: WriteContext) {
  const [, recovery] = await Promise.all([
    lockTenant(context, 'people'),
    context.em.findOne(Recovery, { id }, FOR_UPDATE),
  ])
  if (!recovery) return null
  return { recovery, person: await context.em.findOneOrFail(Person, { id: recovery.personId }) }
}

export const cancelRecovery: HandlerOf<typeof recoveryApi.cancelRecovery> = async (
  { params, body },
  context,
) => {
  const { actor, refuse } = context
  const found = await lockRecovery(params.id, context)
  if (!found) return refuse('recovery_not_found')
  const { recovery, person } = found
  if (recovery.endedAt) return refuse('recovery_ended', `The recovery is already ${recovery.status}.`)
  const end = { reason: 'stopped', by: recoveryStopper(actor), comment: body.comment } as const
  await endRecovery(recovery, person, end, context)
  return DONE
}

/** Allows the link after 24 hours, or ends what was not used in time: what is still due, also late. */
export async function advanceRecovery(
  id: string,
  context: WriteContext<(typeof recoverySteps.advance)['emits']>,
): Promise<void> {
  const { now } = context
  const found = await lockRecovery(id, context)
  if (!found) return
  const { recovery, person } = found
  if (recovery.status === 'waiting' && recovery.readyAt <= now) markRecoveryReady(recovery, person, context)
  if (recovery.status === 'ready' && recovery.expiresAt <= now)
    await endRecovery(recovery, person, { reason: 'expired' }, context)
}

/** Temporal stores this summary of the run, so it contains no names. */
const summaryOf = ({ personId, mode, status, readyAt }: Recovery): string => {
  const state = status === 'waiting' ? `can be stopped until ${formatMinute(readyAt)}` : status
  return `Recovery of ${personId} in ${mode} mode: ${state}`
}

const signals: readonly RecoverySignal[] = ['cancel']

/** What the run of a recovery reads. */
export async function recoveryStatus(id: string, { em, now }: ReadContext) {
  const recovery = await em.findOne(Recovery, { id })
  if (!recovery) return undefined
  const closed = !isRecoveryOpen(recovery)
  const { status, readyAt, expiresAt, dueAt } = recovery
  return {
    status,
    summary: summaryOf(recovery),
    closed,
    dueInMs: dueAt && dueAt.getTime() - now.getTime(),
    deadline: formatMinute(status === 'waiting' ? readyAt : expiresAt),
    signals: closed ? [] : [...signals],
  }
}
