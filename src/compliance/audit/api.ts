import { z } from 'zod'
import { operationsFor, operator } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { fileSchema } from '../../kernel/contract/file.ts'
import { notFound } from '../../kernel/contract/operation.ts'
import { digitsAsNumber, integerSchema } from '../../kernel/contract/page.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { patternTextSchema, searchTextSchema, timeRangeMembers } from '../../values/schemas.ts'
import {
  AuditDetails,
  AuditRecord,
  CheckpointRecord,
  ConsistencyProofRecord,
  InclusionProofRecord,
  PurgeRecord,
  VerificationRecord,
} from './schemas.ts'

const readers = operationsFor({ callers: ['key'], scope: 'audit:read' })

/** Positions have at most nine digits: more entries than a trail with ten thousand a second gets in a day. */
const size = digitsAsNumber(integerSchema(1, 999_999_999))

const not_sealed = [
  409,
  'The entry is not sealed yet. That takes at most two seconds while a relay is running.',
] as const

const trail_not_found = [
  404,
  'No entry of this trail is sealed yet. That takes at most two seconds while a relay is running.',
] as const

export const auditApi = {
  list: readers.list('/audit', {
    summary: 'Search the audit trail',
    description: 'Who changed what, when, and from where: one entry per change, newest first, never altered.',
    filters: {
      actor: searchTextSchema.meta({
        description: 'Only entries by this kind of actor, or by the actor with this ID.',
        examples: ['key'],
      }),
      action: patternTextSchema(
        /^[A-Za-z]+\.([A-Za-z]+|\*)$/,
        100,
        'an operation like agents.create, or agents.* for all of them',
      )
        .optional()
        .meta({ examples: ['agents.*'] }),
      kind: z.enum(['decision']).optional().meta({
        description:
          '`decision`: decisions of persons, one entry each. Intents and card requests that were approved or denied, and payees that were confirmed; not what a policy decides at once.',
      }),
      resource: searchTextSchema.meta({ description: 'Only entries about the record with this ID.' }),
      requestId: searchTextSchema,
      agentId: id('agent').optional().meta({ description: 'The agent that the entry concerns.' }),
      outcome: patternTextSchema(/^[a-z0-9_]+$/, 100, '`done`, or the code of a refusal')
        .optional()
        .meta({ examples: ['done'] }),
      ...timeRangeMembers,
      q: z.string().min(1).max(100).optional().meta({
        description:
          'Only entries with this text in the action, event, resource, actor or request ID, in any case.',
      }),
    },
    item: AuditRecord,
  }),
  get: readers.get('/audit/{id}', {
    summary: 'Get an entry of the audit trail',
    description: 'Includes the data of its event and its position in the trail.',
    returns: [200, AuditDetails],
    fails: { entry_not_found: notFound('entry') },
  }),
  proof: readers.get('/audit/{id}/proof', {
    summary: 'Prove that an entry is in the audit trail',
    description:
      'Returns the sealed content of the entry, and the hashes that lead from it to the root of the newest checkpoint. `verifyAuditProof` of the typed client verifies it, as can every Certificate Transparency verifier.',
    returns: [200, InclusionProofRecord],
    fails: { entry_not_found: notFound('entry'), not_sealed },
  }),
  checkpoint: readers.get('/audit/checkpoint', {
    summary: 'Get the newest checkpoint of the audit trail',
    description:
      'Keep a copy elsewhere: an older checkpoint reveals any later change of the entries before it. Its public key is in `/.well-known/jwks.json`.',
    returns: [200, CheckpointRecord],
    fails: { trail_not_found },
  }),
  checkpoints: readers.list('/audit/checkpoints', {
    summary: 'List the checkpoints of the audit trail',
    description: 'Newest first: one for each time that entries were sealed.',
    item: CheckpointRecord,
  }),
  consistency: readers.get('/audit/consistency', {
    limits: { oneAtATime: true },
    summary: 'Prove that the audit trail has only grown',
    description:
      'Returns the hashes that prove that the trail of the size `to` begins with the trail of the size `from` (RFC 6962). `verifyAuditGrowth` of the typed client verifies it against your checkpoint.',
    query: z.strictObject({
      from: size.meta({ description: 'Size of an older checkpoint.', examples: [1] }),
      to: size.optional().meta({ description: 'Size of a newer checkpoint. Defaults to the newest.' }),
    }),
    returns: [200, ConsistencyProofRecord],
    fails: {
      beyond_trail: [400, '`from` must be at most `to`, and both at most the size of the newest checkpoint.'],
    },
  }),
  export: readers.get('/audit/export', {
    limits: { oneAtATime: true },
    summary: 'Export the audit trail',
    description:
      'Exports all sealed entries, or those of a period, oldest first, as one streamed file. NDJSON proves itself: it has the leaf of each entry, the checkpoints, and hashes in place of purged or unrequested entries.\n\n`agentpay audit verify` and `verifyAudit` of the typed client verify it offline. Each export is in the trail.',
    query: z.strictObject({
      format: z.enum(['ndjson', 'csv']).default('ndjson').meta({
        description:
          'CSV is for spreadsheets, and proves nothing: texts that a spreadsheet would read as formulas begin with an apostrophe.',
      }),
      ...timeRangeMembers,
    }),
    returns: [200, fileSchema('application/x-ndjson')],
    fails: { trail_not_found },
    emits: {
      'audit.exported': declareEvent(
        'The audit trail was exported.',
        z.object({
          checkpointId: id('checkpoint'),
          size: z.int(),
          format: z.string(),
          from: instant.nullable(),
          to: instant.nullable(),
        }),
      ),
    },
  }),
  purge: operator.post('/audit/purge', {
    summary: 'Purge old entries of an audit trail',
    description:
      'Removes an owner’s sealed entries from before an instant, oldest first, at most 50,000 per call, and their events. Their hashes stay, so everything later still verifies against every checkpoint. Nothing younger than `AUDIT_RETENTION_DAYS` is removed.',
    body: z.strictObject({
      ownerId: id('customer'),
      mode: z.enum(['test', 'live']),
      before: instant.meta({ examples: ['2016-01-01T00:00:00.000Z'] }),
    }),
    example: {
      ownerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz',
      mode: 'live',
      before: '2016-01-01T00:00:00.000Z',
    },
    returns: [200, PurgeRecord],
    fails: {
      trail_not_found,
      too_young: [400, '`before` is within the retention period. See AUDIT_RETENTION_DAYS.'],
    },
    emits: {
      'audit.purged': declareEvent(
        'Old entries of the audit trail were purged.',
        z.object({
          purgeId: id('purge'),
          before: instant,
          purged: z.int(),
          size: z.int(),
          checkpointId: id('checkpoint'),
        }),
      ),
    },
  }),
  verify: readers.get('/audit/verify', {
    limits: { oneAtATime: true },
    summary: 'Verify the audit trail',
    description:
      'Reads every entry and compares it with its leaf, all leaves with the stored tree, and the tree with every checkpoint. Names the first position that is wrong. Only one verification runs at a time; a million entries take less than half a minute.',
    returns: [200, VerificationRecord],
    fails: { verifying: [409, 'The trail is already being verified. Wait for that answer.'] },
  }),
}
