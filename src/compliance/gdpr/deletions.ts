import { burnAssertion } from '../../identity/passkeys/index.ts'
import { consentOf } from '../../identity/people/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { definedOnly, withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { after } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { legalGrounds } from '../../values/personal.ts'
import { actForRequester, isForeignSubject } from './data-export.ts'
import { Deletion, deletionMachine, REFLECTION_MS } from './deletion.ts'
import type { deletionApi } from './deletion-api.ts'
import { monthAfter } from './exports.ts'
import { type Obstacle, obstaclesTo, obstacleTypes } from './obstacles.ts'
import { deletionProcess } from './process.ts'
import { isKnown, type Subject } from './tables-of-subject.ts'

export const subjectOf = ({ subjectType, subjectId }: Deletion): Subject => ({
  type: subjectType,
  id: subjectId,
})

export const shownObstacles = (obstacles: readonly Obstacle[]) =>
  obstacles.map(one => ({ ...one, howItEnds: obstacleTypes[one.type] }))

const response = (found: Deletion) =>
  withMembers(found, {
    subject: subjectOf(found),
    records: Number(found.records),
    waitsFor: shownObstacles(found.waitsFor),
    kept: found.kept.map(one => ({
      ...one,
      areas: [...one.areas],
      law: legalGrounds[one.ground].law,
      until: new Date(one.until),
    })),
  })

export const deletionData = (found: Deletion) => ({
  deletionId: found.id,
  subject: subjectOf(found),
  status: found.status,
})

export const wakeDeletion = ({ id }: Deletion, { wake }: Pick<Context, 'wake'>): void =>
  wake(deletionProcess, { id, agentId: null })

const OPEN = ['requested', 'waiting', 'ending', 'forgetting'] as const

export const createDeletion: HandlerOf<typeof deletionApi.createDeletion> = async ({ body }, context) => {
  const { records, now, emit, refuse } = context
  if (isForeignSubject(body.subject?.type, context)) return refuse('merchant_needed')
  actForRequester(context)
  const subject = body.subject ?? { type: 'owner' as const, id: context.tenant.ownerId }
  const { type: subjectType, id: subjectId } = subject
  const [isThere, obstacles] = await Promise.all([isKnown(subject, context), obstaclesTo(subject, context)])
  if (!isThere) return refuse('subject_not_found')
  if (obstacles.some(({ type }) => type === 'live_account')) return refuse('live_key_needed')
  const consent = await consentOf(body.webauthnAssertion, context)
  if (typeof consent === 'string') return refuse(consent)
  await lockTenant(context, 'gdpr-deletions')
  const members = { subjectType, subjectId }
  const code = consent && (await burnAssertion(consent, { kind: 'deletion', members }, context))
  if (code) return refuse(code)
  const open = await records.findOne(Deletion, { ...members, status: { $in: [...OPEN] } })
  if (open) return refuse('deletion_open')
  const id = newId('gdprdeletion')
  const beginsAt = after(now, REFLECTION_MS)
  const made = records.create(Deletion, {
    id,
    ...members,
    answerBy: monthAfter(now),
    beginsAt,
    dueAt: beginsAt,
    workflowId: workflowIdOf(deletionProcess, id),
  })
  emit('gdpr.deletion_requested', deletionData(made))
  wakeDeletion(made, context)
  return response(made)
}

export const listDeletions: HandlerOf<typeof deletionApi.listDeletions> = async (
  { query: { status } },
  context,
) => {
  actForRequester(context)
  const { data, ...cursor } = await context.page(Deletion, definedOnly({ status }))
  return { ...cursor, data: data.map(response) }
}

const TENANT_OF = 'select owner_id as "ownerId", mode from gdpr_deletions where id = $1'

export const getDeletion: HandlerOf<typeof deletionApi.getDeletion> = async (
  { params },
  { records, sql, actor, switchTenant, refuse },
) => {
  if (actor.type === 'dash') {
    const [tenant] = await sql<Tenant & Row>(TENANT_OF, [params.id])
    if (!tenant) return refuse('deletion_not_found')
    switchTenant({ ownerId: tenant.ownerId, mode: tenant.mode })
  }
  const found = await records.findOne(Deletion, { id: params.id })
  return found ? response(found) : refuse('deletion_not_found')
}

export const cancelDeletion: HandlerOf<typeof deletionApi.cancelDeletion> = async ({ params }, context) => {
  const { records, now, emit, refuse } = context
  actForRequester(context)
  const found = await records.lock(Deletion, params.id)
  if (!found) return refuse('deletion_not_found')
  if (!deletionMachine.move(found, 'cancelled')) return refuse('deletion_begun')
  Object.assign(found, { cancelledAt: now, dueAt: null, waitsFor: [] })
  emit('gdpr.deletion_cancelled', deletionData(found))
  wakeDeletion(found, context)
  return response(found)
}
