import { z } from 'zod'
import { signingPersonSchema } from '../../kernel/journal/timeline.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead } from '../../values/schemas.ts'

export const AuditRecord = z
  .object({
    ...recordHead('audit'),
    actorType: z.string().meta({
      description: 'What called: `key`, `agent`, `dash`; `process` for a deadline, `operator` for a signal.',
      examples: ['key'],
    }),
    actorId: z.string().nullable().meta({
      description: 'Which key or token; of an operator, the name that came along, proved by nothing.',
    }),
    personId: signingPersonSchema,
    action: z.string().meta({ description: 'The operation.', examples: ['agents.freeze'] }),
    event: z.string().meta({ description: 'What it changed.', examples: ['agent.frozen'] }),
    outcome: z.string().meta({ description: '`done`, or the code of the refusal.', examples: ['done'] }),
    resourceId: z.string().meta({ description: 'The record that it was done to.' }),
    agentId: id('agent').nullable().meta({ description: 'The agent that it concerns.' }),
    requestId: z.string(),
    runId: id('run').nullable().meta({ description: 'The run that it belongs to.' }),
    sha256: z.string().nullable().meta({
      description: 'Of evidence and receipts: SHA-256 of what came, so that it cannot be exchanged later.',
    }),
    receivedAt: instant
      .nullable()
      .meta({ description: 'Of evidence and receipts: when that came, in real time.' }),
    address: z
      .string()
      .nullable()
      .meta({ description: 'The network address of the caller.', examples: ['203.0.113.7'] }),
    at: instant,
  })
  .meta({ id: 'AuditEntry' })

const position = z.int().min(0)

export const AuditDetails = AuditRecord.extend({
  data: z.record(z.string(), z.unknown()).meta({ description: 'The data of the event.' }),
  position: position.nullable().meta({
    description: 'Its place in the trail, from 0 on. Null until it is sealed: within two seconds.',
  }),
}).meta({ id: 'AuditDetails' })

export const sha256Schema = z.string().meta({
  description: 'SHA-256 in base64.',
  examples: ['uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek='],
})

export const signedNoteSchema = z.string().meta({
  description:
    'A signed note (C2SP tlog-checkpoint): the name of the trail, its size, the root of its tree, and a signature of this installation.',
})

export const CheckpointRecord = z
  .object({
    ...recordHead('checkpoint'),
    size: z.int().min(1).meta({ description: 'How many entries are sealed in it.' }),
    root: sha256Schema,
    note: signedNoteSchema,
    createdAt: instant,
  })
  .meta({ id: 'AuditCheckpoint' })

const byPlace = z.record(z.string(), z.string())

export const commitmentsSchema = byPlace.meta({
  description:
    'By the place of each text about a person (`address`, `data.name`): its HMAC-SHA-256, which is in the leaf in its place.',
})
export const saltsSchema = byPlace.meta({
  description: 'The keys of those HMACs. One is missing where the text was forgotten.',
})

export const InclusionProofRecord = z
  .object({
    entryId: id('audit'),
    position,
    leaf: z.string().meta({
      description:
        'What is sealed: the canonical JSON (RFC 8785) of the entry. SHA-256 of a zero byte and this is its hash.',
    }),
    leafHash: sha256Schema,
    commitments: commitmentsSchema,
    salts: saltsSchema,
    size: z.int().min(1).meta({ description: 'That of the tree that the proof leads to.' }),
    proof: z
      .array(sha256Schema)
      .max(64)
      .meta({ description: 'The audit path of RFC 6962, 2.1.1, from the leaf upwards.' }),
    checkpoint: signedNoteSchema,
  })
  .meta({ id: 'AuditProof' })

export const ConsistencyProofRecord = z
  .object({
    from: z.int().min(1),
    to: z.int().min(1),
    fromRoot: sha256Schema,
    toRoot: sha256Schema,
    proof: z.array(sha256Schema).max(128).meta({ description: 'The consistency proof of RFC 6962, 2.1.2.' }),
    checkpoint: signedNoteSchema.nullable().meta({
      description: 'The signed checkpoint of the size `to`; null where none was made at that size.',
    }),
  })
  .meta({ id: 'AuditConsistency' })

export const VerificationRecord = z
  .object({
    ok: z.boolean(),
    size: z
      .int()
      .min(0)
      .meta({ description: 'How many entries are sealed, those included that were purged.' }),
    purged: z.int().min(0).meta({ description: 'How many of them were purged: their hashes were verified.' }),
    checkpoints: z.int().min(0).meta({ description: 'How many checkpoints were compared.' }),
    checkpoint: signedNoteSchema
      .nullable()
      .meta({ description: 'The newest one; null where nothing is sealed yet.' }),
    problem: z
      .object({
        position: position.meta({ description: 'The first position that is wrong.' }),
        message: z.string(),
      })
      .nullable(),
    unsealed: z
      .object({ entries: z.int().min(0), oldestAt: instant.nullable() })
      .meta({ description: 'The tail: what is committed and not sealed yet, no longer than two seconds.' }),
  })
  .meta({ id: 'AuditVerification' })

export const PurgeRecord = z
  .object({
    purgeId: id('purge'),
    ownerId: id('customer'),
    mode: z.enum(['test', 'live']),
    before: instant,
    purged: z.int().min(0).meta({ description: 'How many entries are gone by this call.' }),
    size: z.int().min(0).meta({ description: 'How many entries from the first one on are gone in all.' }),
    hasMore: z.boolean().meta({ description: 'Whether there is more to purge: call it again.' }),
    checkpoint: signedNoteSchema,
  })
  .meta({ id: 'AuditPurge' })
