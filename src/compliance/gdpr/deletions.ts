import { consumeAssertion } from '../../identity/passkeys/index.ts'
import { verifyOwnerConsent } from '../../identity/people/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { EmitContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { definedOnly, FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { addMs } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { legalGrounds } from '../../values/personal.ts'
import { actForRequestingTenant, isSubjectOfOtherAccount } from './data-export.ts'
import { DELETION_GRACE_MS, Deletion, dataDeletionMachine } from './deletion.ts'
import type { dataDeletionApi } from './deletion-api.ts'
import { oneMonthLater } from './exports.ts'
import { type DeletionBlocker, deletionBlockerTypes, findDeletionBlockers } from './obstacles.ts'
import { dataDeletionProcess } from './process.ts'
import { type DataSubject, isKnownSubject } from './tables-of-subject.ts'

export const deletionSubject = ({ subjectType, subjectId }: Deletion): DataSubject => ({
  type: subjectType,
  id: subjectId,
})

export const deletionBlockersResponse = (obstacles: readonly DeletionBlocker[]) =>
  obstacles.map(one => ({ ...one, howItEnds: deletionBlockerTypes[one.type] }))

const response = (found: Deletion) =>
  withMembers(found, {
    subject: deletionSubject(found),
    records: Number(found.records),
    waitsFor: deletionBlockersResponse(found.waitsFor),
    kept: found.kept.map(one => ({
      ...one,
      areas: [...one.areas],
      law: legalGrounds[one.ground].law,
      until: new Date(one.until),
    })),
  })

export const deletionEvent = (found: Deletion) => ({
  deletionId: found.id,
  subject: deletionSubject(found),
  status: found.status,
})

export const wakeDeletion = ({ id }: Deletion, { wake }: EmitContext): void =>
  wake(dataDeletionProcess, { id, agentId: null })

const OPEN = ['requested', 'waiting', 'ending', 'forgetting'] as const

export const createDataDeletion: HandlerOf<typeof dataDeletionApi.createDeletion> = async (
  { body },
  context,
) => {
  const { em, now, emit, refuse } = context
  if (isSubjectOfOtherAccount(body.subject?.type, context)) return refuse('merchant_needed')
  actForRequestingTenant(context)
  const subject = body.subject ?? { type: 'owner' as const, id: context.tenant.ownerId }
  const { type: subjectType, id: subjectId } = subject
  const [isThere, obstacles] = await Promise.all([
    isKnownSubject(subject, context),
    findDeletionBlockers(subject, context),
  ])
  if (!isThere) return refuse('subject_not_found')
  if (obstacles.some(({ type }) => type === 'live_account')) return refuse('live_key_needed')
  const consent = await verifyOwnerConsent(body.webauthnAssertion, context)
  if (typeof consent === 'string') return refuse(consent)
  await lockTenant(context, 'gdpr-deletions')
  const members = { subjectType, subjectId }
  const code = consent && (await consumeAssertion(consent, { kind: 'deletion', members }, context))
  if (code) return refuse(code)
  const open = await em.findOne(Deletion, { ...members, status: { $in: [...OPEN] } })
  if (open) return refuse('deletion_open')
  const id = newId('gdprdeletion')
  const beginsAt = addMs(now, DELETION_GRACE_MS)
  const made = em.create(Deletion, {
    id,
    ...members,
    answerBy: oneMonthLater(now),
    beginsAt,
    dueAt: beginsAt,
    workflowId: workflowIdOf(dataDeletionProcess, id),
  })
  emit('gdpr.deletion_requested', deletionEvent(made))
  wakeDeletion(made, context)
  return response(made)
}

export const listDataDeletions: HandlerOf<typeof dataDeletionApi.listDeletions> = async (
  { query: { status } },
  context,
) => {
  actForRequestingTenant(context)
  const { data, ...cursor } = await context.page(Deletion, definedOnly({ status }))
  return { ...cursor, data: data.map(response) }
}

const TENANT_OF = 'select owner_id as "ownerId", mode from gdpr_deletions where id = $1'

export const getDataDeletion: HandlerOf<typeof dataDeletionApi.getDeletion> = async (
  { params },
  { em, sql, actor, switchTenant, refuse },
) => {
  if (actor.type === 'dash') {
    const [tenant] = await sql<Tenant & Row>(TENANT_OF, [params.id])
    if (!tenant) return refuse('deletion_not_found')
    switchTenant({ ownerId: tenant.ownerId, mode: tenant.mode })
  }
  const found = await em.findOne(Deletion, { id: params.id })
  return found ? response(found) : refuse('deletion_not_found')
}

export const cancelDataDeletion: HandlerOf<typeof dataDeletionApi.cancelDeletion> = async (
  { params },
  context,
) => {
  const { em, now, emit, refuse } = context
  actForRequestingTenant(context)
  const found = await em.findOne(Deletion, { id: params.id }, FOR_UPDATE)
  if (!found) return refuse('deletion_not_found')
  if (!dataDeletionMachine.move(found, 'cancelled')) return refuse('deletion_begun')
  Object.assign(found, { cancelledAt: now, dueAt: null, waitsFor: [] })
  emit('gdpr.deletion_cancelled', deletionEvent(found))
  wakeDeletion(found, context)
  return response(found)
}
