import { z } from 'zod'
import { operator } from '../../kernel/contract/callers.ts'
import { step } from '../../kernel/contract/step.ts'
import { instant } from '../../values/clock.ts'
import { freeTextSchema, labelSchema, timeRangeMembers } from '../../values/schemas.ts'
import { reportStages } from './clocks.ts'
import { classificationCriteriaSchema } from './criteria.ts'
import { incidentEvents } from './events.ts'
import { reportFieldEntriesSchema } from './report/fields.ts'
import {
  IncidentRecord,
  IncidentReportRecord,
  incidentFactMembers,
  incidentRefusals,
  incidentStatusSchema,
  severitySchema,
} from './schemas.ts'

const { incident_not_found, incident_closed, time_to_come, invalid_date_order, too_many_entries } =
  incidentRefusals
const changing = { incident_not_found, incident_closed }

const { description, detectedAt, ...otherFacts } = incidentFactMembers

export const securityIncidentsApi = {
  create: operator.post('/security/incidents', {
    summary: 'Open a security incident',
    description:
      'The clocks start at `awareAt`. Details of the reporting entity are copied from earlier incidents. The incident’s events belong to `customer_house`: `GET /events` with the dashboard secret and `X-Owner-Id`.',
    body: z.strictObject(incidentFactMembers),
    example: {
      severity: 'high',
      category: 'system_failure',
      detectedAt: '2026-11-20T09:30:00.000Z',
      description: 'Card authorizations were declined, as the processor could not be reached.',
      affectedUsers: 1_200,
      countries: ['DE'],
    },
    returns: [201, IncidentRecord],
    fails: { time_to_come, invalid_date_order },
    emits: { 'incident.opened': incidentEvents['incident.opened'] },
  }),
  list: operator.list('/security/incidents', {
    summary: 'List security incidents',
    description: 'Newest first, each with its clocks.',
    readsClock: true,
    filters: {
      status: incidentStatusSchema.optional(),
      severity: severitySchema.optional(),
      ...timeRangeMembers,
    },
    item: IncidentRecord,
  }),
  get: operator.get('/security/incidents/{id}', {
    summary: 'Get a security incident',
    description: 'Includes its due reports, deadlines and their articles.',
    readsClock: true,
    returns: [200, IncidentRecord],
    fails: { incident_not_found },
  }),
  update: operator.patch('/security/incidents/{id}', {
    summary: 'Update a security incident',
    description:
      'The clocks follow: `recoveredAt` requires an updated intermediate report, `personalDataAwareAt` starts the 72 hours of the GDPR. `fields` fills in the reports, by the numbers of Implementing Regulation (EU) 2025/302, Annex I; null removes an entry.',
    body: z
      .strictObject({ description, detectedAt, ...otherFacts, fields: reportFieldEntriesSchema })
      .partial(),
    example: { recoveredAt: '2026-11-20T11:10:00.000Z', fields: { '2.7': 'monitoring systems' } },
    returns: [200, IncidentRecord],
    fails: { ...changing, time_to_come, invalid_date_order },
    emits: { 'incident.updated': incidentEvents['incident.updated'] },
  }),
  classify: operator.post('/security/incidents/{id}/classify', {
    summary: 'Classify a security incident',
    description:
      'The criteria are those of Delegated Regulation (EU) 2024/1772. `assessment` says which thresholds are met and why. With `decision`, a person decides, even against it, and the clocks follow. Without it, nothing is decided.\n\nThe decision can change until the incident is closed: an incident that is not major after all is reported as reclassified if an initial notification was submitted.',
    body: z.strictObject({
      criteria: classificationCriteriaSchema,
      decision: z
        .strictObject({
          isMajor: z.boolean(),
          decidedBy: labelSchema.meta({ description: 'The person who decides.', examples: ['Ada Lovelace'] }),
          reasons: freeTextSchema.min(1).meta({ examples: ['Cards were down for three hours.'] }),
          at: instant
            .optional()
            .meta({ description: 'Time of the decision. Defaults to the earlier time of decision, or now.' }),
        })
        .optional(),
    }),
    example: {
      criteria: {
        clientsAffected: 1_200,
        clientsOfService: 9_000,
        downtimeMinutes: 190,
        criticalServices: true,
      },
      decision: {
        isMajor: true,
        decidedBy: 'Ada Lovelace',
        reasons: 'Cards were down for three hours, for 13 % of all clients.',
      },
    },
    returns: [200, IncidentRecord],
    fails: { ...changing, time_to_come, invalid_date_order, too_many_entries },
    emits: {
      'incident.updated': incidentEvents['incident.updated'],
      'incident.classified': incidentEvents['incident.classified'],
    },
  }),
  submit: operator.post('/security/incidents/{id}/reports/{stage}/submit', {
    summary: 'Record that a report was submitted to the authority',
    description:
      'The service submits nothing itself: it records when the authority got the report, and its reference. The next clock runs from `at`. One submission may cover earlier stages, too (Implementing Regulation (EU) 2025/302, Article 2): `covers` names them. There may be several intermediate reports.\n\n`reclassification` reports that the incident is not major after all, `data_protection` is the notification of the data protection authority.',
    body: z.strictObject({
      at: instant.meta({ description: 'Time of the submission.' }),
      reference: labelSchema.meta({
        description: 'The authority’s reference.',
        examples: ['BaFin-2026-004711'],
      }),
      covers: z
        .array(z.enum(['initial', 'intermediate']))
        .max(2)
        .default([]),
    }),
    example: { at: '2026-11-20T11:00:00.000Z', reference: 'BaFin-2026-004711' },
    returns: [200, IncidentRecord],
    fails: {
      ...changing,
      time_to_come,
      invalid_date_order,
      too_many_entries,
      stage_not_found: [
        404,
        'There is no such report. See the stages of GET /security/incidents/{id}/report.',
      ],
      not_major: [400, 'Only a major incident has this report. Classify it first.'],
      not_reclassified: [400, 'The incident was not reported as major, or it still is.'],
      no_personal_data: [400, 'No personal data is affected. Set `personalDataAwareAt` first.'],
      already_submitted: [400, 'This report was already submitted.'],
      earlier_report_missing: [
        400,
        'An earlier report was not submitted. Record that one first, or name it in `covers`.',
      ],
      covers_later_report: [400, 'covers: a submission covers reports that come before it.'],
    },
    emits: { 'incident.report_submitted': incidentEvents['incident.report_submitted'] },
  }),
  report: operator.get('/security/incidents/{id}/report', {
    summary: 'Get a report on a security incident',
    description:
      'The fields of Implementing Regulation (EU) 2025/302, Annex I: known fields are filled in, missing ones are named.',
    readsClock: true,
    query: z.strictObject({
      stage: z.enum(reportStages).exclude(['data_protection']).default('initial'),
    }),
    returns: [200, IncidentReportRecord],
    fails: { incident_not_found },
  }),
  close: operator.post('/security/incidents/{id}/close', {
    summary: 'Close a security incident',
    description: 'Possible once no report is outstanding.',
    returns: [200, IncidentRecord],
    fails: {
      ...changing,
      not_classified: [400, 'The incident is not classified yet. Classify it first.'],
      reports_missing: [400, 'A report is outstanding. Submit it first.'],
    },
    emits: { 'incident.closed': incidentEvents['incident.closed'] },
  }),
}

export const incidentSteps = {
  /** A reminder is sent once. */
  remind: step('securityIncidents.remind', {
    summary: 'Remind of outstanding reports',
    emits: {
      'incident.report_due': incidentEvents['incident.report_due'],
      'incident.report_overdue': incidentEvents['incident.report_overdue'],
    },
  }),
}
