import type { Actor } from '../../kernel/contract/actor.ts'
import type { EmitContext, ReadContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { addMs } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { type Person, personEvent } from '../customers/index.ts'
import { revokePersonLinks } from './link.ts'
import { recoveryProcess } from './process.ts'
import {
  OPEN_RECOVERY_SQL,
  RECOVERY_TTL_MS,
  RECOVERY_WAITING_PERIOD_MS,
  Recovery,
  type RecoveryStopper,
  recoveryMachine,
} from './recovery.ts'
import type { personEvents } from './schemas.ts'

/** Callers that change the recovery hold the lock of the tenant's people. */
export const findOpenRecovery = (personId: string, { em }: ReadContext): Promise<Recovery | null> =>
  em.findOne(Recovery, { personId, status: { $in: ['waiting', 'ready'] } })

const eventOf = (person: Person, { id, readyAt }: Recovery) => ({
  ...personEvent(person),
  recoveryId: id,
  readyAt,
})

const wakeProcess = ({ id, personId }: Recovery, { wake }: EmitContext): void =>
  wake(recoveryProcess, { id, agentId: null, about: personId })

export function startRecovery(person: Person, context: WriteContext<typeof personEvents>): Recovery {
  const { em, now, emit } = context
  const id = newId('recovery')
  const readyAt = addMs(now, RECOVERY_WAITING_PERIOD_MS)
  const recovery = em.create(Recovery, {
    id,
    personId: person.id,
    readyAt,
    expiresAt: addMs(readyAt, RECOVERY_TTL_MS),
    dueAt: readyAt,
    workflowId: workflowIdOf(recoveryProcess, id),
  })
  emit('person.recovery_started', eventOf(person, recovery))
  wakeProcess(recovery, context)
  return recovery
}

const END_OF = { stopped: 'stopped', removed: 'stopped', expired: 'expired' } as const

type EndEvents = Pick<typeof personEvents, 'person.recovery_stopped' | 'person.updated'>

export async function endRecovery(
  recovery: Recovery,
  person: Person,
  end: {
    readonly reason: keyof typeof END_OF
    readonly by?: RecoveryStopper
    readonly comment?: string | undefined
  },
  context: WriteContext<EndEvents>,
): Promise<void> {
  if (!recoveryMachine.move(recovery, END_OF[end.reason])) return
  Object.assign(recovery, {
    endedAt: context.now,
    dueAt: null,
    stoppedBy: end.by ?? null,
    reason: end.comment ?? null,
  })
  await revokePersonLinks(person.id, context, { kind: 'recovery' })
  context.emit('person.recovery_stopped', { ...eventOf(person, recovery), reason: end.reason })
  wakeProcess(recovery, context)
}

/** An operator has no id here, only the name in the signal. */
export const recoveryStopper = ({ type, id, name }: Pick<Actor, 'type' | 'id' | 'name'>): RecoveryStopper =>
  type === 'operator'
    ? { type, id: null, name: id }
    : { type: type === 'console' ? type : 'key', id, name: name ?? null }

export function markRecoveryReady(
  recovery: Recovery,
  person: Person,
  context: WriteContext<EndEvents>,
): void {
  if (!recoveryMachine.move(recovery, 'ready')) return
  recovery.dueAt = recovery.expiresAt
  context.emit('person.updated', { ...personEvent(person), changed: ['recovery'] })
  wakeProcess(recovery, context)
}

export function completeRecovery(recovery: Recovery, now: Date, context: EmitContext): void {
  if (!recoveryMachine.move(recovery, 'completed')) return
  Object.assign(recovery, { endedAt: now, dueAt: null })
  wakeProcess(recovery, context)
}

const OPEN = `select from recoveries where (owner_id, mode, person_id) = ($1, $2, $3) and ${OPEN_RECOVERY_SQL}`

export const isBeingRecovered = async (
  personId: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<boolean> => (await sql(OPEN, [ownerId, mode, personId])).length > 0
