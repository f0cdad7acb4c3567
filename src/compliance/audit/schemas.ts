import { z } from 'zod'
import { signingPersonSchema } from '../../kernel/journal/timeline.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead } from '../../values/schemas.ts'

export const AuditRecord = z
  .object({
    ...recordHead('audit'),
    actorType: z.string().meta({
      description:
        'Kind of caller: `key`, `agent`, `dash`; `process` for a deadline, `operator` for a signal.',
      examples: ['key'],
    }),
    actorId: z.string().nullable().meta({
      description: 'The key or token. For an operator: the unverified name sent with the signal.',
    }),
    personId: signingPersonSchema,
    action: z.string().meta({ description: 'The operation.', examples: ['agents.freeze'] }),
    event: z.string().meta({ description: 'The change, as an event name.', examples: ['agent.frozen'] }),
    outcome: z.string().meta({ description: '`done`, or the code of the refusal.', examples: ['done'] }),
    resourceId: z.string().meta({ description: 'The affected record.' }),
    agentId: id('agent').nullable().meta({ description: 'The agent that the entry concerns.' }),
    requestId: z.string(),
    runId: id('run').nullable().meta({ description: 'The run that the entry belongs to.' }),
    sha256: z.string().nullable().meta({
      description:
        'For evidence and receipts: SHA-256 of the received file, so that it cannot be replaced later.',
    }),
    receivedAt: instant
      .nullable()
      .meta({ description: 'For evidence and receipts: time of receipt, in real time.' }),
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
    description: 'Position in the trail, from 0. Null until it is sealed, within two seconds.',
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
    size: z.int().min(1).meta({ description: 'Number of entries sealed in the checkpoint.' }),
    root: sha256Schema,
    note: signedNoteSchema,
    createdAt: instant,
  })
  .meta({ id: 'AuditCheckpoint' })

const byPlace = z.record(z.string(), z.string())

export const commitmentsSchema = byPlace.meta({
  description:
    'HMAC-SHA-256 of each text about a person, by its place (`address`, `data.name`). The leaf has it in place of the text.',
})
export const saltsSchema = byPlace.meta({
  description: 'The keys of those HMACs. Missing if the text was erased.',
})

export const InclusionProofRecord = z
  .object({
    entryId: id('audit'),
    position,
    leaf: z.string().meta({
      description:
        'The sealed content: the canonical JSON (RFC 8785) of the entry. Its hash is the SHA-256 of a zero byte and this.',
    }),
    leafHash: sha256Schema,
    commitments: commitmentsSchema,
    salts: saltsSchema,
    size: z.int().min(1).meta({ description: 'Size of the tree that the proof leads to.' }),
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
      description: 'The signed checkpoint of the size `to`. Null if there is none of that size.',
    }),
  })
  .meta({ id: 'AuditConsistency' })

export const VerificationRecord = z
  .object({
    ok: z.boolean(),
    size: z.int().min(0).meta({ description: 'Number of sealed entries, including purged ones.' }),
    purged: z.int().min(0).meta({ description: 'Number of purged entries: their hashes were verified.' }),
    checkpoints: z.int().min(0).meta({ description: 'Number of compared checkpoints.' }),
    checkpoint: signedNoteSchema
      .nullable()
      .meta({ description: 'The newest checkpoint. Null if nothing is sealed yet.' }),
    problem: z
      .object({
        position: position.meta({ description: 'The first position that is wrong.' }),
        message: z.string(),
      })
      .nullable(),
    unsealed: z.object({ entries: z.int().min(0), oldestAt: instant.nullable() }).meta({
      description: 'Entries that are committed but not sealed yet, for at most two seconds.',
    }),
  })
  .meta({ id: 'AuditVerification' })

export const PurgeRecord = z
  .object({
    purgeId: id('purge'),
    ownerId: id('customer'),
    mode: z.enum(['test', 'live']),
    before: instant,
    purged: z.int().min(0).meta({ description: 'Number of entries removed by this call.' }),
    size: z.int().min(0).meta({ description: 'Number of entries removed in total, from the first one on.' }),
    hasMore: z.boolean().meta({ description: 'Whether there is more to purge. If so, call again.' }),
    checkpoint: signedNoteSchema,
  })
  .meta({ id: 'AuditPurge' })
