import { hash } from 'node:crypto'
import { defineEntity, type FilterQuery, p } from '@mikro-orm/core'
import { isPaidByCardSql } from '../../cards/authorizations/index.ts'
import { keptWithIntent } from '../../control/intents/index.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { nullable, realTimeColumn, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { readStoredFile } from '../../kernel/database/stored-files.ts'
import { FILE_KINDS, fileExtensionOf } from '../../values/file-kind.ts'

export const evidenceTypes = ['receipt', 'screenshot', 'invoice', 'confirmation', 'other'] as const

/** Bounds the evidence of an intent. A proof of payment needs no more. */
export const MAX_EVIDENCE_PER_INTENT = 100

const TEXT = 'text/plain' as const

const { where, words } = keptWithIntent('t.intent_id')

const schema = defineEntity({
  ...tenantTable('Evidence', 'evidence', 'agentId', 'delegationId'),
  ...personalTable({
    files: ['sha256', 'view_sha256'],
    keptWhile: { where: `${where} or ${isPaidByCardSql('t.intent_id')}`, words },
  }),
  properties: {
    ...recordColumns('evidence'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: p.text(),
    type: plain(p.enum(evidenceTypes)),
    note: personal(nullable.string(), 'words', 'claims', 'word'),
    text: personal(nullable.string(), 'words', 'claims', 'word'),
    fileName: personal(nullable.string(), 'words', 'claims', 'word'),
    mediaType: plain(p.enum([TEXT, ...FILE_KINDS])),
    bytes: p.integer(),
    sha256: personal(p.text(), 'payment', 'claims', 'digest'),
    viewSha256: personal(nullable.string(), 'payment', 'claims', 'digest'),
    /** Uses the real time, regardless of a test clock, which proves that the evidence was not made up later. */
    receivedAt: realTimeColumn(),
  },
})

export class Evidence extends schema.class {}
schema.setClass(Evidence)

export const textEvidence = (text: string) => ({
  text,
  fileName: null,
  mediaType: TEXT,
  bytes: Buffer.byteLength(text),
  sha256: hash('sha256', text, 'hex'),
  viewSha256: null,
})

export const evidenceFileName = ({ id, mediaType }: Evidence): string =>
  `${id}.${mediaType === TEXT ? 'txt' : fileExtensionOf[mediaType]}`

export const findEvidence = (ids: readonly string[], context: ReadContext): Promise<Evidence[]> =>
  find({ id: { $in: [...new Set(ids)] } }, context)

const find = (condition: FilterQuery<Evidence>, { em }: ReadContext): Promise<Evidence[]> =>
  em.find(Evidence, condition, { orderBy: { id: 'asc' }, limit: MAX_EVIDENCE_PER_INTENT })

/** Verifies that the content equals what was stored. Otherwise returns the code of a refusal of `fileRefusals`. */
export const evidenceContent = async ({ text, sha256 }: Evidence, { systems, tenant }: ReadContext) =>
  text === null ? readStoredFile(systems.files, tenant, sha256) : Buffer.from(text)
