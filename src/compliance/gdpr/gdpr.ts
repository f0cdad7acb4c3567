import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { Consent } from './consent.ts'
import { consentApi } from './consent-api.ts'
import { getConsent, listConsents, putConsent } from './consents.ts'
import { DataExport, exportMachine, OPEN } from './data-export.ts'
import { exportApi, exportSteps } from './export-api.ts'
import { advanceExport, archive, createExport, exportStatus, getExport, listExports } from './exports.ts'
import { kernelPersonal } from './kernel-tables.ts'
import { gdprPersonal } from './personal.ts'
import { exportProcess } from './process.ts'

const gdpr = implement(
  { ...exportApi, ...consentApi, ...exportSteps },
  {
    createExport,
    listExports,
    getExport,
    archive,
    getConsent,
    putConsent,
    listConsents,
    exportStatus,
    advanceExport,
  },
)

export const gdprArea = area(
  'Data Protection',
  'What is held about people: they read it, take it with them, and say what it may be used for.',
  gdpr,
  {
    aliases: { 'gdpr/exports': 'gdpr/export' },
    entities: [Consent, DataExport],
    personal: { ...kernelPersonal, ...gdprPersonal },
    machines: [exportMachine],
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
    ],
    openRecords: [
      {
        process: exportProcess,
        select: `select id, owner_id, mode, null::text as agent_id from gdpr_exports where ${OPEN}`,
      },
    ],
  },
)
