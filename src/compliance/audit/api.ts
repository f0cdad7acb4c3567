import { z } from 'zod'
import { list } from '../../kernel/contract/operation.ts'
import { personNamed } from '../../kernel/journal/timeline.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { formattedText, recordHead, searchText, timeRange } from '../../values/schemas.ts'

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
    personId: personNamed,
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

export const auditApi = {
  list: list('/audit', {
    summary: 'Search the audit trail',
    description: 'Who changed what, when, and from where: one entry a change, newest first, never altered.',
    callers: ['key'],
    scope: 'audit:read',
    filters: {
      actor: searchText.meta({ description: 'A kind of actor, or one by its id.', examples: ['key'] }),
      action: formattedText(
        /^[A-Za-z]+\.([A-Za-z]+|\*)$/,
        100,
        'an operation like agents.create, or agents.* for all of them',
      )
        .optional()
        .meta({ examples: ['agents.*'] }),
      resource: searchText.meta({ description: 'The id of a record.' }),
      requestId: searchText,
      ...timeRange,
      q: z.string().min(1).max(100).optional().meta({
        description: 'Text in the action, event, resource, actor or request id, in any case.',
      }),
    },
    item: AuditRecord,
  }),
}
