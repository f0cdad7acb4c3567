import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { Consent } from './consent.ts'
import { consentApi } from './consent-api.ts'
import { getConsent, listConsents, putConsent } from './consents.ts'
import { DataExport, exportMachine, OPEN } from './data-export.ts'
import { Deletion, deletionMachine, UNFINISHED } from './deletion.ts'
import { deletionApi, deletionSteps } from './deletion-api.ts'
import { cancelDeletion, createDeletion, getDeletion, listDeletions } from './deletions.ts'
import { erasureApi } from './erasure-api.ts'
import { listErasures } from './erasures.ts'
import { exportApi, exportSteps } from './export-api.ts'
import { advanceExport, archive, createExport, exportStatus, getExport, listExports } from './exports.ts'
import { advanceDeletion, deletionStatus } from './forget.ts'
import { kernelPersonal } from './kernel-tables.ts'
import { gdprPersonal } from './personal.ts'
import { deletionProcess, exportProcess } from './process.ts'

const gdpr = implement(
  { ...exportApi, ...deletionApi, ...erasureApi, ...consentApi, ...exportSteps, ...deletionSteps },
  {
    createExport,
    listExports,
    getExport,
    archive,
    createDeletion,
    listDeletions,
    getDeletion,
    cancelDeletion,
    listErasures,
    getConsent,
    putConsent,
    listConsents,
    exportStatus,
    advanceExport,
    deletionStatus,
    advanceDeletion,
  },
)

export const gdprArea = area(
  'GDPR',
  'What is held about people: they read it, take it with them, have it forgotten, and say what it may be used for.',
  gdpr,
  {
    aliases: { 'gdpr/exports': 'gdpr/export', 'gdpr/deletions': 'gdpr/delete' },
    entities: [Consent, DataExport, Deletion],
    personal: { ...kernelPersonal, ...gdprPersonal },
    machines: [exportMachine, deletionMachine],
    deadlines: [
      {
        process: exportProcess,
        table: 'gdpr_exports',
        record: 'id',
        agent: 'null::text',
        due: 'due_at',
        open: OPEN,
        waits: 'true',
        operations: ['gdpr.advanceExport'],
      },
      {
        process: deletionProcess,
        table: 'gdpr_deletions',
        record: 'id',
        agent: 'null::text',
        due: 'due_at',
        open: 'due_at is not null',
        waits: UNFINISHED,
        operations: ['gdpr.advanceDeletion'],
      },
    ],
    openRecords: [
      {
        process: exportProcess,
        select: `select id, owner_id, mode, null::text as agent_id from gdpr_exports where ${OPEN}`,
      },
      {
        process: deletionProcess,
        select: `select id, owner_id, mode, null::text as agent_id from gdpr_deletions where ${UNFINISHED}`,
      },
    ],
  },
)
