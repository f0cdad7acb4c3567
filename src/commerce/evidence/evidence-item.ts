import { hash } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { Context } from '../../kernel/contract/context.ts'
import type { Condition } from '../../kernel/contract/records.ts'
import { nullable, realTime, record, tenantTable } from '../../kernel/database/entity.ts'
import { readFile } from '../../kernel/database/stored-files.ts'
import { endingOf, FILE_KINDS } from '../../values/file-kind.ts'
import type { Personal } from '../../values/personal.ts'

export const evidenceTypes = ['receipt', 'screenshot', 'invoice', 'confirmation', 'other'] as const

/** Bounds the evidence of an intent. A proof of payment needs no more. */
export const MAX_PER_INTENT = 100

const TEXT = 'text/plain' as const

const schema = defineEntity({
  ...tenantTable('Evidence', 'evidence', 'agentId', 'delegationId'),
  properties: {
    ...record('evidence'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: p.text(),
    type: p.enum(evidenceTypes),
    note: nullable.string(),
    text: nullable.string(),
    fileName: nullable.string(),
    mediaType: p.enum([TEXT, ...FILE_KINDS]),
    bytes: p.integer(),
    sha256: p.text(),
    viewSha256: nullable.string(),
    /** Uses the real time, regardless of a test clock, which proves that the evidence was not made up later. */
    receivedAt: realTime(),
  },
})

/** Evidence is never changed and never deleted. */
export class Evidence extends schema.class {}
schema.setClass(Evidence)

export const ofText = (text: string) => ({
  text,
  fileName: null,
  mediaType: TEXT,
  bytes: Buffer.byteLength(text),
  sha256: hash('sha256', text, 'hex'),
  viewSha256: null,
})

export const fileNameOf = ({ id, mediaType }: Evidence): string =>
  `${id}.${mediaType === TEXT ? 'txt' : endingOf[mediaType]}`

export const evidencePersonal = {
  evidence: {
    personal: {
      note: { kind: 'words', ground: 'claims', forget: 'word' },
      text: { kind: 'words', ground: 'claims', forget: 'word' },
      file_name: { kind: 'words', ground: 'claims', forget: 'word' },
      sha256: { kind: 'payment', ground: 'claims', forget: 'digest' },
      view_sha256: { kind: 'payment', ground: 'claims', forget: 'digest' },
    },
    plain: ['type', 'media_type'],
    files: ['sha256', 'view_sha256'],
  },
} as const satisfies Personal

type ReadContext = Pick<Context, 'records'>

export const findEvidence = (ids: readonly string[], context: ReadContext): Promise<Evidence[]> =>
  find({ id: { $in: [...new Set(ids)] } }, context)

const find = (condition: Condition<Evidence>, { records }: ReadContext): Promise<Evidence[]> =>
  records.find(Evidence, condition, { orderBy: { id: 'asc' }, limit: MAX_PER_INTENT })

/** Verifies that the content equals what was stored. Otherwise returns the code of a refusal of `fileRefusals`. */
export const evidenceContent = async (
  { text, sha256 }: Evidence,
  { ports, tenant }: Pick<Context, 'ports' | 'tenant'>,
) => (text === null ? readFile(ports.files, tenant, sha256) : Buffer.from(text))
