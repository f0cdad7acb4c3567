import { hash } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import { nullable, realTime, record, tenantTable } from '../../kernel/database/entity.ts'
import { endingOf, FILE_KINDS } from '../../values/file-kind.ts'

export const evidenceTypes = ['receipt', 'screenshot', 'invoice', 'confirmation', 'other'] as const

/** The most pieces of one intent: whoever proves a payment needs no more. */
export const MAX_OF_INTENT = 100

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
    /** Null where the content is a file. */
    text: nullable.string(),
    fileName: nullable.string(),
    mediaType: p.enum([TEXT, ...FILE_KINDS]),
    bytes: p.integer(),
    sha256: p.text(),
    /** Of the picture that was made anew of a file; null of a text, and where none was made as it came. */
    viewSha256: nullable.string(),
    /** In real time, wherever a test clock stands: it proves that nothing was made up later. */
    receivedAt: realTime(),
  },
})

/** A piece of evidence for what an agent has paid. It is never changed and never deleted. */
export class Evidence extends schema.class {}
schema.setClass(Evidence)

/** What is kept of a text. */
export const ofText = (text: string) => ({
  text,
  fileName: null,
  mediaType: TEXT,
  bytes: Buffer.byteLength(text),
  sha256: hash('sha256', text, 'hex'),
  viewSha256: null,
})

/** The name under which somebody saves it. */
export const fileNameOf = ({ id, mediaType }: Evidence): string =>
  `${id}.${mediaType === TEXT ? 'txt' : endingOf[mediaType]}`
