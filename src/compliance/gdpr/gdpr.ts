import { area } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { definedOnly, withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { Consent, MAX_CONSENT_PURPOSES } from './consent.ts'
import { consentApi } from './consent-api.ts'
import { DataExport, dataExportMachine, UNEXPIRED_EXPORT_SQL } from './data-export.ts'
import { Deletion, dataDeletionMachine, UNFINISHED_DELETION_SQL } from './deletion.ts'
import { dataDeletionApi, dataDeletionSteps, erasureApi } from './deletion-api.ts'
import {
  cancelDataDeletion,
  createDataDeletion,
  deletionBlockersResponse,
  getDataDeletion,
  listDataDeletions,
} from './deletions.ts'
import { dataExportApi, dataExportSteps } from './export-api.ts'
import { createDataExport, downloadDataExport, getDataExport, listDataExports } from './exports.ts'
import { kernelPersonal } from './kernel-personal.ts'
import { dataDeletionProcess, dataExportProcess } from './process.ts'

const NEWEST = `
with recursive purposes as (
  (select purpose from consents where owner_id = $1 and mode = $2 order by purpose limit 1)
  union all
  select (select c.purpose from consents c
    where c.owner_id = $1 and c.mode = $2 and c.purpose > p.purpose order by c.purpose limit 1)
  from purposes p where p.purpose is not null
)
select newest.id from purposes p cross join lateral (
  select c.id from consents c where c.owner_id = $1 and c.mode = $2 and c.purpose = p.purpose
  order by c.id desc limit 1
) newest`

async function newestOf({ em, sql, tenant }: ReadContext): Promise<Consent[]> {
  const rows = await sql<{ id: string }>(NEWEST, [tenant.ownerId, tenant.mode])
  const found = await em.find(Consent, { id: { $in: rows.map(({ id }) => id) } })
  return found.sort((one, other) => (one.purpose < other.purpose ? -1 : 1))
}

const response = (consent: Consent) =>
  withMembers(consent, { by: { type: consent.byType, id: consent.byId } })

const getConsent: HandlerOf<typeof consentApi.getConsent> = async (_, context) => ({
  consents: (await newestOf(context)).map(response),
})

const listConsents: HandlerOf<typeof consentApi.listConsents> = async ({ query: { purpose } }, { page }) => {
  const { data, ...cursor } = await page(Consent, definedOnly({ purpose }))
  return { ...cursor, data: data.map(response) }
}

/** The tenant is locked, so that concurrent changes are compared with each other. */
const putConsent: HandlerOf<typeof consentApi.putConsent> = async ({ body }, context) => {
  const { em, actor, emit, refuse } = context
  await lockTenant(context, 'consent')
  const before = await newestOf(context)
  const changed = body.purposes.filter(given => !before.some(known => isSame(known, given)))
  const untouched = before.filter(({ purpose }) => !changed.some(given => given.purpose === purpose))
  // Accounts with more purposes, from before there was a limit, can still withdraw each.
  const most = Math.max(MAX_CONSENT_PURPOSES, before.length)
  if (untouched.length + changed.length > most) return refuse('too_many_purposes')
  const made = changed.map(given => em.create(Consent, { ...given, byType: actor.type, byId: actor.id }))
  for (const { id, purpose, granted, wordingVersion } of made)
    emit('consent.changed', { consentId: id, purpose, granted, wordingVersion })
  const consents = [...untouched, ...made].sort((one, other) => (one.purpose < other.purpose ? -1 : 1))
  return { consents: consents.map(response) }
}

type Given = Pick<Consent, 'purpose' | 'granted' | 'wordingVersion'>

const isSame = (known: Given, given: Given): boolean =>
  known.purpose === given.purpose &&
  known.granted === given.granted &&
  known.wordingVersion === given.wordingVersion

const ERASURES = `
select id, owner_id as "ownerId", mode, status, jsonb_build_object('type', subject_type, 'id', subject_id) as subject,
  begins_at as "beginsAt", coalesce(first_completed_at, completed_at) as "completedAt", waits_for as "waitsFor"
from gdpr_deletions d
where id > $1 and status <> 'cancelled' and ($2::text is null or status = $2) order by id limit $3`

interface ErasureRow extends Row, Pick<Deletion, 'id' | 'ownerId' | 'mode' | 'waitsFor' | 'beginsAt'> {
  readonly status: Exclude<Deletion['status'], 'cancelled'>
  readonly subject: { readonly type: Deletion['subjectType']; readonly id: string }
  readonly completedAt: Date | null
}

const listErasures: HandlerOf<typeof erasureApi.listErasures> = async (
  { query: { status } },
  { sql, pageBy },
) => {
  const { data, ...cursor } = await pageBy((after, most) =>
    sql<ErasureRow>(ERASURES, [after ?? '', status ?? null, most]),
  )
  return { ...cursor, data: data.map(row => ({ ...row, waitsFor: deletionBlockersResponse(row.waitsFor) })) }
}

const gdpr = bindHandlers(
  {
    ...dataExportApi,
    ...dataDeletionApi,
    ...erasureApi,
    ...consentApi,
  },
  {
    createExport: createDataExport,
    listExports: listDataExports,
    getExport: getDataExport,
    archive: downloadDataExport,
    createDeletion: createDataDeletion,
    listDeletions: listDataDeletions,
    getDeletion: getDataDeletion,
    cancelDeletion: cancelDataDeletion,
    listErasures,
    getConsent,
    putConsent,
    listConsents,
  },
)

export const gdprArea = area('GDPR', 'Personal data: export, erasure and consent.', gdpr, {
  aliases: { 'gdpr/exports': 'gdpr/export', 'gdpr/deletions': 'gdpr/delete' },
  steps: { advanceExport: dataExportSteps.advance, advanceDeletion: dataDeletionSteps.advance },
  entities: [Consent, DataExport, Deletion],
  personal: kernelPersonal,
  machines: [dataExportMachine, dataDeletionMachine],
  deadlines: [
    {
      process: dataExportProcess,
      table: 'gdpr_exports',
      open: UNEXPIRED_EXPORT_SQL,
      waits: 'true',
      activities: ['advanceExport'],
    },
    {
      process: dataDeletionProcess,
      table: 'gdpr_deletions',
      open: 'due_at is not null',
      waits: UNFINISHED_DELETION_SQL,
      activities: ['advanceDeletion'],
    },
  ],
  openRecords: [
    {
      process: dataExportProcess,
      select: `select id, owner_id, mode, null::text as agent_id from gdpr_exports where ${UNEXPIRED_EXPORT_SQL}`,
    },
    {
      process: dataDeletionProcess,
      select: `select id, owner_id, mode, null::text as agent_id from gdpr_deletions where ${UNFINISHED_DELETION_SQL}`,
    },
  ],
})
