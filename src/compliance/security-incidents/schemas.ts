import { z } from 'zod'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { countrySchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { reportingClockStages, reportStages } from './clocks.ts'
import { classificationCriteria, classificationCriteriaSchema } from './criteria.ts'
import {
  incidentCategories,
  incidentSeverities,
  MAX_INCIDENT_ENTRIES,
  securityIncidentMachine,
} from './incident.ts'

export const incidentStatusSchema = z.enum(securityIncidentMachine.states)
export const severitySchema = z.enum(incidentSeverities)
export const incidentCategorySchema = z.enum(incidentCategories)

const ClockRecord = z
  .object({
    stage: z.enum(reportingClockStages).meta({
      description:
        '`classification`: decide whether it is major. `update`: an intermediate report that knows of the recovery. `data_protection`: the notification of the data protection authority.',
    }),
    beginsAt: instant,
    dueAt: instant,
    article: z.string().meta({
      description: 'The rule that sets the time.',
      examples: ['Delegated Regulation (EU) 2025/301, Article 5(1)(a)'],
    }),
    isMoved: z.boolean().meta({ description: 'From a weekend or bank holiday to the next working day.' }),
    doneAt: instant.nullable(),
    isOverdue: z.boolean(),
  })
  .meta({ id: 'IncidentClock' })

const AssessmentRecord = z
  .object({
    meetsThresholds: z.boolean().meta({ description: 'What the numbers say. A person decides.' }),
    reason: z.string(),
    findings: z.array(
      z.object({
        criterion: z.enum(classificationCriteria),
        article: z.string(),
        isMet: z.boolean(),
        reasons: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: 'IncidentAssessment' })

const DecisionRecord = z.object({
  at: z.iso.datetime(),
  isMajor: z.boolean(),
  decidedBy: z.string(),
  reasons: z.string(),
  thresholdsMet: z.boolean().meta({ description: 'What the thresholds said then.' }),
})

const reportStage = z.enum(reportStages).meta({ examples: ['initial'] })

const SubmittedRecord = z.object({
  stage: reportStage,
  at: z.iso.datetime(),
  reference: z.string(),
  isJoint: z.boolean().meta({ description: 'One submission covered several stages.' }),
})

export const IncidentRecord = z
  .object({
    ...recordHead('incident'),
    status: incidentStatusSchema,
    severity: severitySchema,
    category: incidentCategorySchema,
    description: z.string(),
    detectedAt: instant,
    awareAt: instant.meta({ description: 'From when on the operator knew: the clocks begin here.' }),
    occurredAt: instant.nullable(),
    recoveredAt: instant.nullable().meta({ description: 'When business was normal again.' }),
    resolvedAt: instant.nullable(),
    affectedUsers: z.int().nullable(),
    countries: z.array(z.string()),
    personalDataAwareAt: instant.nullable().meta({
      description: 'When it became known that personal data are affected; null where they are not.',
    }),
    criteria: classificationCriteriaSchema.nullable(),
    assessment: AssessmentRecord.nullable().meta({ description: 'Null while no criteria are known.' }),
    isMajor: z.boolean().nullable().meta({ description: 'Null until it is classified.' }),
    classifiedAt: instant.nullable().meta({ description: 'When it was classified as major.' }),
    decisions: z.array(DecisionRecord),
    reports: z.array(SubmittedRecord),
    fields: z.record(z.string(), z.string()).meta({
      description: 'What people have filled in for the reports, by the numbers of the fields.',
      examples: [{ '2.7': 'monitoring systems' }],
    }),
    clocks: z.array(ClockRecord).meta({ description: 'What is owed, each beside its article.' }),
    closedAt: instant.nullable(),
    workflowId: z.string().meta({ description: 'The run to find in the Temporal Web UI.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'SecurityIncident' })

export const IncidentReportRecord = z
  .object({
    incidentId: id('incident'),
    stage: reportStage,
    madeAt: instant,
    dueAt: instant.nullable(),
    article: z.string().nullable(),
    isComplete: z.boolean(),
    missing: z.array(z.string()).meta({ examples: [['2.7 Discovery of the major ICT-related incident']] }),
    sections: z.array(
      z.object({
        title: z.string(),
        fields: z.array(
          z.object({
            number: z.string().meta({ description: 'As Annex I numbers it.', examples: ['2.4'] }),
            name: z.string(),
            value: z.string().nullable(),
            isMissing: z.boolean(),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'IncidentReport' })

const knownSince = (description: string) => instant.nullable().optional().meta({ description })

export const incidentFactMembers = {
  severity: severitySchema,
  category: incidentCategorySchema,
  description: z
    .string()
    .trim()
    .min(1)
    .max(10_000)
    .meta({
      examples: ['Card authorizations were declined, as the processor could not be reached.'],
    }),
  detectedAt: instant,
  awareAt: instant.optional().meta({ description: '`detectedAt`, unless something else is said.' }),
  occurredAt: knownSince('When it began, as far as that is known.'),
  recoveredAt: knownSince('When business was normal again.'),
  resolvedAt: knownSince('When it was resolved for good.'),
  affectedUsers: z.int().min(0).max(1_000_000_000).nullable().optional(),
  countries: z
    .array(countrySchema)
    .max(100)
    .optional()
    .meta({ examples: [['DE']] }),
  personalDataAwareAt: knownSince(
    'Since when it is known that personal data are affected: the 72 hours of the GDPR run from then.',
  ),
}

export const incidentRefusals = {
  incident_not_found: notFound('incident'),
  incident_closed: [400, 'The incident is closed and cannot change. Open another one.'],
  time_to_come: [400, 'An instant is in the future. Instants must be in the past.'],
  invalid_date_order: [400, 'The instants are in an impossible order.'],
  too_many_entries: [400, `An incident has at most ${MAX_INCIDENT_ENTRIES} reports and as many decisions.`],
} as const satisfies Record<string, RefusalSpec>
