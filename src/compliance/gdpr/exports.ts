import { inRange } from '../../kernel/contract/conditions.ts'
import type { EmitContext, ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { definedOnly, FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { addMs } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { formatMinute } from '../../values/minute.ts'
import { dataExportArchive } from './archive.ts'
import { countSubjectRecords } from './count-records.ts'
import {
  actForRequestingTenant,
  DataExport,
  dataExportMachine,
  EXPORT_RETENTION_MS,
  isSubjectOfOtherAccount,
} from './data-export.ts'
import type { dataExportApi, dataExportSteps } from './export-api.ts'
import { dataExportProcess } from './process.ts'
import { isKnownSubject } from './tables-of-subject.ts'

const subjectOf = ({ subjectType, subjectId }: DataExport) => ({ type: subjectType, id: subjectId })

const response = (found: DataExport) =>
  withMembers(found, {
    subject: subjectOf(found),
    records: found.records === null ? null : Number(found.records),
  })

const eventData = (found: DataExport) => ({
  exportId: found.id,
  subject: subjectOf(found),
  status: found.status,
})

const wakeProcess = ({ id }: DataExport, { wake }: EmitContext): void =>
  wake(dataExportProcess, { id, agentId: null })

/** By the calendar, as the law counts: the same day of the next month, or its last day. */
export function oneMonthLater(start: Date): Date {
  const end = new Date(start)
  end.setUTCMonth(end.getUTCMonth() + 1)
  if (end.getUTCDate() !== start.getUTCDate()) end.setUTCDate(0)
  return end
}

async function openExport(
  { type, id }: { readonly type: DataExport['subjectType']; readonly id: string },
  { em, now }: ReadContext,
): Promise<DataExport | undefined> {
  const [newest] = await em.find(
    DataExport,
    {
      subjectType: type,
      subjectId: id,
      $or: [{ status: 'requested' }, { status: 'ready', expiresAt: inRange({ gt: now }) }],
    },
    { orderBy: { id: 'desc' }, limit: 1 },
  )
  return newest
}

async function lockOpenExport(
  subject: Parameters<typeof openExport>[0],
  context: ReadContext,
): Promise<DataExport | undefined> {
  const [, open] = await Promise.all([lockTenant(context, 'data exports'), openExport(subject, context)])
  return open
}

export const createDataExport: HandlerOf<typeof dataExportApi.createExport> = async ({ body }, context) => {
  const { em, now, emit, refuse } = context
  if (isSubjectOfOtherAccount(body.subject?.type, context)) return refuse('merchant_needed')
  actForRequestingTenant(context)
  const subject = body.subject ?? { type: 'owner' as const, id: context.tenant.ownerId }
  if (!(await isKnownSubject(subject, context))) return refuse('subject_not_found')
  const open = (await openExport(subject, context)) ?? (await lockOpenExport(subject, context))
  if (open) return response(open)
  const id = newId('gdprexport')
  const made = em.create(DataExport, {
    id,
    subjectType: subject.type,
    subjectId: subject.id,
    answerBy: oneMonthLater(now),
    dueAt: now,
    workflowId: workflowIdOf(dataExportProcess, id),
  })
  emit('gdpr.export_requested', eventData(made))
  wakeProcess(made, context)
  return response(made)
}

export const listDataExports: HandlerOf<typeof dataExportApi.listExports> = async (
  { query: { status } },
  context,
) => {
  actForRequestingTenant(context)
  const { data, ...cursor } = await context.page(DataExport, definedOnly({ status }))
  return { ...cursor, data: data.map(response) }
}

export const getDataExport: HandlerOf<typeof dataExportApi.getExport> = async ({ params }, context) => {
  const { em, refuse } = context
  actForRequestingTenant(context)
  const found = await em.findOne(DataExport, { id: params.id })
  return found ? response(found) : refuse('export_not_found')
}

export const downloadDataExport: HandlerOf<typeof dataExportApi.archive> = async ({ params }, context) => {
  const { em, now, emit, refuse, sqlAfterCommit: sql, systems, service } = context
  actForRequestingTenant(context)
  const found = await em.findOne(DataExport, { id: params.id })
  if (!found) return refuse('export_not_found')
  if (found.status === 'requested') return refuse('export_not_ready')
  if (!found.expiresAt || found.expiresAt <= now) return refuse('export_expired')
  emit('gdpr.export_downloaded', eventData(found))
  const made = { exportId: found.id, subject: subjectOf(found), madeAt: now }
  return {
    type: 'application/zip',
    name: `${found.id}.zip`,
    content: dataExportArchive(made, { sql, systems, service, tenant: context.tenant }),
  }
}

/** Makes the archive ready at once, and ends it after seven days. */
export async function advanceDataExport(
  id: string,
  context: WriteContext<(typeof dataExportSteps.advance)['emits']>,
): Promise<void> {
  const { em, now, emit } = context
  const found = await em.findOne(DataExport, { id }, FOR_UPDATE)
  if (!found?.dueAt || found.dueAt > now) return
  if (found.status === 'ready') {
    dataExportMachine.move(found, 'expired')
    found.dueAt = null
  } else {
    const expiresAt = addMs(now, EXPORT_RETENTION_MS)
    dataExportMachine.move(found, 'ready')
    const count = await countSubjectRecords(subjectOf(found), context)
    Object.assign(found, { records: count, readyAt: now, expiresAt, dueAt: expiresAt })
    emit('gdpr.export_ready', eventData(found))
  }
  wakeProcess(found, context)
}

/** What the run of an export reads. */
export async function dataExportStatus(id: string, { em, now }: ReadContext) {
  const found = await em.findOne(DataExport, { id })
  if (!found) return undefined
  const { ownerId, mode, status, dueAt } = found
  return {
    status,
    summary: `Export of the data of ${ownerId} in ${mode} mode: ${status}`,
    closed: status === 'expired',
    dueInMs: dueAt && dueAt.getTime() - now.getTime(),
    deadline: dueAt && formatMinute(dueAt),
    signals: [],
  }
}
